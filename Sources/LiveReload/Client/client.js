// The watchrun client: swaps stylesheets and images, reloads the page, shows failed tasks.
(() => {
  const doc = document, on = addEventListener, base = location.origin + '/__watchrun/';
  const all = (selector, root = doc) => [...root.querySelectorAll(selector)];
  const script = doc.currentScript ??
    all('[src*="__watchrun/client.js"],[src*="livereload.js"]')[0];
  if (!script || window.__watchrun) return;
  window.__watchrun = true;
  let { session: run, revision: version } = script.dataset;
  let secret, isShown = true, reloading, stamp = Date.now();
  const fire = (event, detail) =>
    dispatchEvent(new CustomEvent('watchrun:' + event, { cancelable: true, detail }));

  // Sets a value of this URL. Returns the one before: null if none, undefined without storage.
  const exchange = (label, content) => {
    try {
      const slot = `watchrun:${label}:${location.href}`, old = sessionStorage.getItem(slot);
      if (content === null) sessionStorage.removeItem(slot);
      else sessionStorage.setItem(slot, content);
      return old;
    } catch {}
  };

  // Reload
  const selector = (e) => {
    const tag = CSS.escape(e.localName), parent = e.parentElement;
    for (const attribute of ['id', 'name']) {
      const short = `${tag}[${attribute}="${CSS.escape(e.getAttribute(attribute) ?? '')}"]`;
      if (all(short).length === 1) return short;
    }
    if (!parent) return tag;
    const twins = [...parent.children].filter((c) => c.localName === e.localName);
    return `${selector(parent)}>${tag}:nth-of-type(${twins.indexOf(e) + 1})`;
  };
  const edited = new Set();
  on('input', ({ target: e }) => e.isContentEditable && edited.add(e), true);
  const initial = { selected: 'defaultSelected', checked: 'defaultChecked', value: 'defaultValue' };
  const property = (e) => e.localName === 'option' ? 'selected' : e.isContentEditable ? 'innerText'
    : /^(checkbox|radio)$/.test(e.type) ? 'checked' : 'value';
  const isChanged = (e) => edited.has(e) || e.matches('input,textarea,option') &&
    !/^(password|hidden|file)$/.test(e.type) && e[property(e)] !== e[initial[property(e)]];

  const save = () => {
    const elements = all('*'), active = doc.activeElement ?? doc.body;
    exchange('state', JSON.stringify({
      time: Date.now(),
      fields: elements.filter(isChanged).map((e) => [selector(e), e[property(e)]]),
      scrolled: elements.filter((e) => e.scrollTop || e.scrollLeft)
        .map((e) => [selector(e), e.scrollLeft, e.scrollTop]),
      focus: [selector(active), active.selectionStart, active.selectionEnd],
    }));
  };
  const restore = () => {
    const state = JSON.parse(exchange('state', null) ?? null);
    if (!state || Date.now() - state.time > 3e4) return;
    let touched;
    for (const type of ['wheel', 'touchmove', 'pointerdown', 'keydown']) {
      on(type, () => { touched = true; }, { once: true, passive: true, capture: true });
    }
    const fill = ([place, content]) => {
      const e = all(place)[0], field = e && property(e);
      if (!e) return true;
      if (field === 'innerText') edited.add(e);
      if (e[field] === content) return;
      Reflect.set(Object.getPrototypeOf(e), field, content, e); // not the setter that React adds
      for (const type of ['input', 'change']) {
        (e.closest('select') ?? e).dispatchEvent(new Event(type, { bubbles: true }));
      }
    };
    const step = () => {
      if (doc.readyState !== 'loading') {
        state.fields = state.fields.filter(fill);
        const [place, start, end] = state.focus, e = all(place)[0];
        if (e && !touched && (self === top || doc.hasFocus())) {
          state.focus = [];
          e.focus({ preventScroll: true });
          try { e.setSelectionRange(start, end); } catch {}
        }
      }
      if (!touched) for (const [place, left, top] of state.scrolled) {
        all(place)[0]?.scrollTo({ left, top, behavior: 'instant' });
      }
    };
    step();
    on('DOMContentLoaded', step);
    on('load', step);
  };
  const reload = () => {
    if (reloading || !fire('before-reload')) return;
    reloading = setTimeout(() => { reloading = 0; }, 2000); // the user may choose to stay
    try { save(); } catch {}
    location.reload();
  };

  // Update. A visitor calls `edit` with each URL in use; the result, if any, replaces the URL.
  const resolve = (edit, text, base) => {
    try {
      const url = new URL(text, base ?? doc.baseURI);
      return url.origin === location.origin && url.protocol !== 'blob:' && edit(url);
    } catch {}
  };
  const refreshed = (url) => {
    const rest = url.search.slice(1).split('&').filter((p) => p && !p.startsWith('watchrun='));
    url.search = [...rest, 'watchrun=' + stamp].join('&');
    return url.href;
  };
  const roots = (root = doc) =>
    [root, ...all('*', root).flatMap((e) => e.shadowRoot ? roots(e.shadowRoot) : [])];
  const rules = (styles) => { try { return [...styles.cssRules]; } catch { return []; } };
  const changed = new Set(); // the paths of all sheets that have changed
  const replaced = new WeakSet(); // elements that stay until their successor has loaded
  const imports = (styles) => rules(styles).filter((rule) => rule.type === 3);
  // Applies `edit` to a sheet and its imports. Returns whether any result is true.
  const touches = (edit, { href, sheet, styleSheet = sheet }, base) =>
    [href && resolve(edit, href, base), ...imports(styleSheet).map((rule) =>
      touches(edit, rule, styleSheet.href))].some(Boolean);
  const isLoaded = ({ styleSheet }) => {
    try {
      return styleSheet.cssRules && imports(styleSheet).every(isLoaded);
    } catch (error) {
      return error.name === 'SecurityError'; // another origin
    }
  };
  // Imports changed sheets again: a new URL of the parent alone does not reload them.
  const freshen = (styles) => Promise.all(imports(styles).map(async (rule) => {
    if (!touches((url) => changed.has(url.pathname), rule, styles.href)) return;
    const next = resolve(refreshed, rule.href, styles.href);
    const text = rule.cssText.replace(/"(\\.|[^"])*"/, () => JSON.stringify(next));
    const copy = styles.cssRules[styles.insertRule(text, rules(styles).indexOf(rule) + 1)];
    for (let n = 0; n < 200 && !isLoaded(copy); n++) await new Promise((done) => setTimeout(done, 5));
    styles.deleteRule(rules(styles).indexOf(rule));
    return freshen(copy.styleSheet);
  }));
  const swapSheet = (old) => {
    const next = old.href && resolve(refreshed, old.href), copy = old.cloneNode(true);
    if (next && (old.disabled || /alternate/.test(old.rel))) return old.href = next;
    if (next) copy.href = next;
    copy.removeAttribute('integrity');
    copy.onload = copy.onerror = async () => {
      copy.onload = null;
      if (copy.sheet && old.sheet) copy.sheet.disabled = old.sheet.disabled;
      try { await freshen(copy.sheet); } catch {}
      while (replaced.has(copy.previousElementSibling)) copy.previousElementSibling.remove();
    };
    old.after(copy);
    replaced.add(old);
  };
  const visitSheets = (edit) => {
    const owners = 'link[rel~=stylesheet],link[as=style],style';
    for (const e of roots().flatMap((root) => all(owners, root))) {
      if (!replaced.has(e) && touches(edit, e)) swapSheet(e);
    }
  };
  const visitImages = (edit) => {
    const restyle = (styles, base) => {
      if (/url\(/.test(styles?.cssText)) for (const attribute of styles) {
        const old = styles.getPropertyValue(attribute);
        const content = old.replace(/url\("?(.*?)"?\)/g, (same, url) => {
          const next = resolve(edit, url, base);
          return next ? `url("${next}")` : same;
        });
        if (content !== old) styles.setProperty(attribute, content,
          styles.getPropertyPriority(attribute));
      }
    };
    const walk = (parent, base) => rules(parent).forEach((rule) => {
      restyle(rule.style, base);
      walk(rule.styleSheet ?? rule, rule.styleSheet?.href ?? base);
    });
    for (const root of roots()) {
      for (const e of all('img,source,input,video,image,use,link[rel~=icon],[style*=url]', root)) {
        for (const attribute of ['src', 'srcset', 'poster', 'href', 'xlink:href']) {
          const old = e.getAttribute(attribute) ?? '';
          const content = old.replace(attribute === 'srcset' ? /\S*[^\s,]/g : /.+/,
            (url) => resolve(edit, url) || url);
          if (content !== old) e.setAttribute(attribute, content);
        }
        restyle(e.style);
      }
      for (const s of [...root.styleSheets, ...root.adoptedStyleSheets]) walk(s, s.href);
    }
  };
  performance.setResourceTimingBufferSize(1e5);
  const visit = (edit) => {
    visitSheets(edit);
    visitImages(edit);
  };
  const parts = (file) => {
    try { file = decodeURIComponent(file); } catch {}
    return file.split('/').filter(Boolean).reverse();
  };
  const update = ({ paths, exact }) => {
    if (!fire('before-update', { paths })) return;
    // All that the page has loaded, and whether by something of which nothing is in the document.
    const used = new Set(), chosen = new Set(), loaded = new Map([[location.pathname, true]]);
    for (const entry of performance.getEntriesByType('resource')) {
      resolve(({ pathname: known }) => loaded.set(known, loaded.get(known) ||
        /fetch|xml|script|object|embed|frame/.test(entry.initiatorType)), entry.name);
    }
    visit((url) => { used.add(url.pathname); });
    for (const file of paths) {
      let best = 1, found = [];
      for (const known of new Set([...used, ...loaded.keys()])) {
        const have = parts(known), want = parts(file);
        let n = 0;
        while (n < want.length && want[n] === have[n]) n++;
        // An exact path may still be reached by way of a link: then its end decides.
        if (exact && n === Math.max(want.length, have.length)) n = Infinity;
        if (n > best) [best, found] = [n, []];
        if (n === best) found.push(known);
      }
      // A server may have put it into anything, and what was drawn stays drawn.
      if (found[0] ? !/css$/i.test(file) && all('canvas')[0] : !exact) return reload();
      for (const known of found) {
        if (!used.has(known) || loaded.get(known)) return reload();
        chosen.add(known);
        changed.add(known);
      }
    }
    stamp++;
    visit((url) => chosen.has(url.pathname) && refreshed(url));
  };

  // Overlay. Its rendering is a file of its own, loaded at the first failure. `import` passes on the
  // nonce of this script and needs no Trusted Type: what lets this script in lets the overlay in.
  let host, render, loading, closed, failures = new Map(), earlier = failures;
  const open = (link) =>
    fetch(`${base}open?${new URLSearchParams({ link, token: secret })}`, { method: 'POST' });
  const close = () => { closed = true; draw(); };
  const draw = () => {
    host?.remove();
    host = null;
    if (closed || !isShown || !failures.size) return;
    if (render) host = render([...failures.values()], open, close);
    // A browser may remember that a URL could not be loaded; the next attempt has another one.
    else loading ??= import(`${base}overlay.js?${Date.now()}`).then((overlay) => {
      render = overlay.default;
      draw();
    }).catch((error) => {
      loading = null;
      console.error('watchrun: cannot show that a task has failed:', error);
    });
  };
  on('keydown', (event) => { if (host && event.key === 'Escape') close(); });

  // Messages
  const id = Math.random();
  const handlers = {
    hello(m) {
      const isStale = run && (run !== m.session || version < m.revision);
      if (run !== m.session || !(version > m.revision)) version = m.revision;
      ({ session: run, token: secret, overlay: isShown = true } = m);
      fire('hello', m);
      earlier = failures;
      failures = new Map();
      draw();
      const state = `${run} ${version}`;
      // At most one reload for each version: a cache may serve the old page again.
      if (!isStale) return;
      if (![state, undefined].includes(exchange('stale', state))) return reload();
      if (navigator.serviceWorker?.controller) console.warn('watchrun: this page is older than the last ' +
        'change: its service worker answers from a cache; in developer tools, check "Bypass for ' +
        'network", or unregister it');
    },
    failure(m) {
      // A reconnect repeats failures. One that the user has closed stays closed.
      if (JSON.stringify(earlier.get(m.task)?.lines) !== JSON.stringify(m.lines)) closed = false;
      earlier.delete(m.task);
      failures.set(m.task, m);
      draw();
    },
    cleared(m) {
      failures.delete(m.task);
      draw();
    },
    retry() { all('meta[name=watchrun]')[0] && reload(); },
    reload,
    update,
  };
  const receive = (m) => {
    if (m.to && m.to !== id) return;
    if (m.type !== 'hello' && m.revision) {
      if (version >= m.revision) return; // the page was served after this change
      version = m.revision;
    }
    handlers[m.type]?.(m);
  };

  // Connection
  let delay = 700;
  const listenAlone = () => {
    const source = new EventSource(base + 'events');
    source.onopen = () => { delay = 700; };
    source.onmessage = ({ data }) => receive(JSON.parse(data));
    source.onerror = () => { // it reconnects by itself unless it is closed, as after a 502
      if (source.readyState === 2) setTimeout(listenAlone, delay = Math.min(delay * 1.5, 5000));
    };
  };
  const share = () => {
    const channel = new BroadcastChannel('watchrun'), file = base + 'worker.js';
    channel.onmessage = ({ data }) => { if (!data.from) receive(data); };
    channel.postMessage({ from: id });
    const lead = () => import(file).catch(listenAlone);
    // A policy with nonces forbids workers.
    try {
      if (script.nonce) throw script;
      new SharedWorker(file).onerror = lead;
    } catch {
      lead();
    }
  };
  const connect = (pause = 300) => { // LiveReload protocol 7
    const socket = new WebSocket(new URL('/livereload', script.src).href.replace('http', 'ws'));
    socket.onopen = () => {
      pause = 300;
      socket.send(JSON.stringify({
        command: 'hello', protocols: ['http://livereload.com/protocols/official-7'],
      }));
    };
    socket.onmessage = ({ data }) => {
      const { command, path } = JSON.parse(data);
      if (command === 'reload') path === '/' ? reload() : update({ paths: [path] });
    };
    socket.onclose = () => setTimeout(connect, pause, Math.min(pause * 2, 5000));
  };

  try { restore(); } catch {}
  if (/livereload\.js/.test(script.src)) connect();
  else if (navigator.locks && window.BroadcastChannel) share();
  else listenAlone();
})();
