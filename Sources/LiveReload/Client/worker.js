// Listens to watchrun for all tabs, as a browser opens at most six connections to a host: in a worker of its own,
// since a dialog or a long script blocks a tab, or in one of the tabs. client.js starts it.
(() => {
  const channel = new BroadcastChannel('watchrun'), failures = new Map();
  let greeting, isLost, delay = 700; // the session of the greeting may have ended
  const deliver = (m) => {
    if (m.type === 'hello') {
      greeting = m;
      isLost = false;
      failures.clear();
    }
    if (m.type === 'failure') failures.set(m.task, m);
    if (m.type === 'cleared') failures.delete(m.task);
    if (m.revision) greeting.revision = m.revision;
    channel.postMessage(m);
  };
  channel.onmessage = ({ data }) => {
    if (!data.from) return;
    const greet = () => {
      for (const m of greeting ? [greeting, ...failures.values()] : []) {
        channel.postMessage({ ...m, to: data.from });
      }
    };
    // The next session greets all. One that cannot be reached from here, as through a service worker that is gone, is
    // reached after the reload to which an ended session's greeting leads: this worker ends with it.
    if (isLost) setTimeout(greet, 6000);
    else greet();
  };
  // A tab may listen already, if its policy forbids workers. One that cannot connect, such as one whose policy forbids
  // it, lets another one try.
  const lead = () => navigator.locks.request('watchrun', () => new Promise((release) => {
    const source = new EventSource(location.origin + '/__watchrun/events');
    source.onopen = () => { delay = 700; };
    source.onmessage = ({ data }) => deliver(JSON.parse(data));
    source.onerror = () => { // it reconnects by itself unless it is closed, as after a 502
      isLost = true;
      if (source.readyState !== 2) return;
      setTimeout(() => {
        release();
        lead();
      }, delay = Math.min(delay * 1.5, 5000));
    };
  }));
  lead();
})();
