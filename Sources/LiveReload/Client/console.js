// Sends the errors of the page, and what it writes to its console as an error or a warning, to watchrun,
// which shows them in the terminal. The console of the page shows everything as without it. Served in
// front of client.js, in one file, so that it runs before the scripts of the page.
(() => {
  const base = location.origin + '/__watchrun/';
  if (window.__watchrun || !document.currentScript?.src.startsWith(base)) return;
  const on = addEventListener, later = setTimeout, post = fetch; // a page may replace them
  // At most 20 messages are sent at once, which is less than a request with `keepalive` may have.
  const mostMessages = 20, mostText = 1000, pause = 500;
  let secret, messages = [], omitted = 0, isBusy, isReporting, room;

  // Values as text, without calling code of the page where that can be avoided, and bounded.
  const head = (e) => `${e.name}: ${e.message}`;
  const trace = (e) => {
    room -= 20;
    const found = String(e.stack ?? '').split('\n').slice(0, 12).join('\n');
    const text = found.includes(e.message) ? found : head(e) + '\n' + found;
    return text.trimEnd() + (e.cause && room > 0 ? '\ncaused by ' + show(e.cause) : '');
  };
  const fields = (v, depth) => {
    const found = [], isList = Array.isArray(v);
    const add = (key) => {
      const field = Object.getOwnPropertyDescriptor(v, key);
      if (!field) return true;
      if (found.length > 9 || --room < 0) return !found.push('…');
      const text = 'value' in field ? show(field.value, depth + 1) : '(…)';
      return found.push(isList ? text : `${key}: ${text}`);
    };
    if (isList) {
      for (let n = 0; n < v.length; n++) if (!add(n)) break;
    } else {
      for (const key in v) if (!add(key)) break;
    }
    return found.join(', ');
  };
  const show = (v, depth = 0) => {
    try {
      if (typeof v === 'string') return depth ? JSON.stringify(v.slice(0, 100)) : v.slice(0, mostText);
      if (typeof v === 'bigint') return v + 'n';
      if (typeof v === 'function') return 'function ' + v.name;
      if (typeof v !== 'object' || !v) return String(v);
      if (v instanceof Error) return depth || room < 0 ? head(v) : trace(v);
      if (v instanceof Element) return `<${v.localName}${v.id && '#' + v.id}>`;
      const type = Object.getPrototypeOf(v)?.constructor?.name ?? '';
      if (v instanceof Date) return String(v);
      if (ArrayBuffer.isView(v) || v instanceof Map || v instanceof Set) {
        return `${type}(${v.size ?? v.byteLength})`;
      }
      const text = depth > 2 ? '…' : fields(v, depth);
      return Array.isArray(v) ? `[${text}]` : `${type === 'Object' ? '' : type + ' '}{${text}}`;
    } catch {
      return '(unreadable)';
    }
  };
  const describe = (values) => {
    room = 100;
    const rest = values.slice(0, 20);
    let text = show(rest.shift());
    if (typeof values[0] === 'string' && rest.length) {
      text = text.replace(/%[sdifoOc%]/g, (mark) => {
        if (mark === '%%') return '%';
        if (!rest.length) return mark;
        const shown = show(rest.shift());
        return mark === '%c' ? '' : shown;
      });
    }
    return [text, ...rest.map((v) => show(v))].join(' ');
  };

  const send = (isLast) => {
    if (!secret || isBusy && !isLast || !messages.length) return;
    // An error that the page has handled is not one.
    const entries = messages.filter((m) => !m.event?.defaultPrevented)
      .map(({ level, text }) => ({ level, text }));
    const body = JSON.stringify({ entries, omitted });
    const isEmpty = !entries.length && !omitted;
    messages = [];
    omitted = 0;
    if (isEmpty) return;
    isBusy = true;
    const query = new URLSearchParams({ token: secret });
    post(`${base}console?${query}`, { method: 'POST', body, keepalive: true })
      .then(({ ok }) => ok, () => false).then((ok) => {
        if (!ok) secret = null; // until watchrun has answered again
        later(() => {
          isBusy = false;
          send();
        }, pause);
      });
  };
  const report = (level, makeValues, event) => {
    if (isReporting) return; // by code of the page that describing a value has called
    isReporting = true;
    try {
      if (messages.length < mostMessages) {
        const text = describe(makeValues()).split(location.origin).join('').slice(0, mostText)
          .replace(/[\ud800-\udfff]/gu, '\ufffd'); // halves of characters, such as the cut leaves
        // A page that complains about the requests of this script would cause the next one.
        if (!text.includes('/__watchrun/console') && messages.push({ level, text, event }) === 1) {
          later(send, 50);
        }
      } else omitted++;
    } catch {}
    isReporting = false;
  };

  const wrap = (method, level) => {
    const original = console[method];
    console[method] = (...values) => {
      original(...values);
      report(level, () => values);
    };
  };
  try {
    wrap('error', 'error');
    wrap('warn', 'warning');
  } catch {}
  on('error', (event) => report('error', () => {
    const { error, message, filename, lineno, colno } = event, place = `${filename}:${lineno}`;
    const start = error == null ? ['%s', message] : ['Uncaught', error];
    return !filename || String(error?.stack).includes(place) ? start
      : [...start, `(${place}:${colno})`];
  }, event));
  on('unhandledrejection', (event) =>
    report('error', () => ['Unhandled rejection:', event.reason], event));
  on('watchrun:hello', ({ detail }) => {
    secret = detail.token;
    send();
  });
  // A page that is left becomes hidden after its own listeners of `pagehide`.
  for (const type of ['pagehide', 'visibilitychange']) on(type, () => send(true));
})();
