// Listens to watchrun for all tabs, in a worker of its own: a dialog or a long script blocks a tab, but
// not the worker. client.js starts it.
(() => {
  const channel = new BroadcastChannel('watchrun'), failures = new Map();
  let greeting, delay = 700;
  const deliver = (m) => {
    if (m.type === 'hello') {
      greeting = m;
      failures.clear();
    }
    if (m.type === 'failure') failures.set(m.task, m);
    if (m.type === 'cleared') failures.delete(m.task);
    if (m.revision) greeting.revision = m.revision;
    channel.postMessage(m);
  };
  channel.onmessage = ({ data }) => {
    if (data.from && greeting) {
      for (const m of [greeting, ...failures.values()]) {
        channel.postMessage({ ...m, to: data.from });
      }
    }
  };
  const listen = () => {
    const source = new EventSource('events');
    source.onopen = () => { delay = 700; };
    source.onmessage = ({ data }) => deliver(JSON.parse(data));
    source.onerror = () => { // it reconnects by itself unless it is closed, as after a 502
      if (source.readyState === 2) setTimeout(listen, delay = Math.min(delay * 1.5, 5000));
    };
  };
  // A tab may listen already, if its policy forbids workers.
  navigator.locks.request('watchrun', () => new Promise(listen));
})();
