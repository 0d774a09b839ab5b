// The overlay of the watchrun client: shows failed tasks. client.js imports it at the first failure, and the
// status page for the lines of its output.
const colors = (list) => // bright colors look like normal ones
  list.split(' ').map((c, i) => `.f${i},.f${i + 8}{color:#${c}}`).join('');
const light = '24292f c62828 1a7f37 8a6100 0550ae 8250df 0b7285 57606a';
const css = `:host{all:initial!important}
aside{color-scheme:light dark;position:fixed;z-index:2147483647;inset:auto 0 0;max-height:50vh;overflow:auto;
box-sizing:border-box;padding:0 16px 10px;background:#fff;color:#1f2328;
border-top:4px solid #cf222e;box-shadow:0 0 24px #0006;font:13px/1.5 ui-monospace,monospace}
button{all:unset;position:sticky;top:0;z-index:2;float:right;padding:2px 10px;font-size:24px;cursor:pointer}
p{position:sticky;top:8px;z-index:1;margin:8px 40px 0 0;padding:4px 8px;background:#ffebe9;color:#82071e}
p:empty{display:none}
:focus-visible{outline:2px solid}
h2{position:sticky;top:0;background:inherit;font-size:14px;margin:0 -16px;padding:10px 56px 6px 16px}
pre{font:inherit;margin:0 0 12px;white-space:pre-wrap;overflow-wrap:anywhere}
a{color:inherit}
h2 a{font-weight:400;margin-left:8px}
.r{display:flex}.q{flex:0 9999 auto;min-width:2ch;overflow:hidden;white-space:pre}
.b{font-weight:700}.d{opacity:.7}.i{font-style:italic}
a,.u{text-decoration:underline}.s{text-decoration:line-through}
[class*=g]{color:#fff}${colors(light).replace(/f(?=\d+[,{])/g, 'g').replace(/{/g, '{background-')}
.g7,.g15{background:#c8ccd1;color:#000}${colors(light)}
@media(prefers-color-scheme:dark){aside{background:#161b22;color:#e6edf3}
p{background:#3c1618;color:#ffdcd7}${colors(
  '8b949e ff7b72 56d364 e3b341 79c0ff d2a8ff 56d4dd e6edf3')}}
.f0[class*=g]{color:#000}.f15[class*=g]{color:#fff}`;

// A run of a character with which programs draw rules. It is the only group, so that splitting keeps it.
const rule = /(={10,}|-{10,}|_{10,}|\*{10,}|#{10,}|~{10,}|─{10,}|━{10,}|═{10,})/;
const make = (tag, properties, ...nodes) => {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...nodes);
  return e;
};

const span = ({ t, c = '', l }, follow) => {
  const e = make(l == null ? 'span' : 'a', { className: c }, t);
  for (const [, kind, color] of c.matchAll(/([fg])(#\w+)/g)) {
    e.style[kind === 'f' ? 'color' : 'background'] = color;
  }
  if (l != null) {
    e.href = '#';
    e.onclick = () => {
      follow(l);
      return false;
    };
  }
  return e;
};
// The nodes of a line. `follow` is called with the link that is clicked. A line with a rule, such as
// `=== FAILURES ===`, shortens the rule instead of wrapping it.
const line = (spans, follow) => spans.some(({ t }) => rule.test(t))
  ? [make('div', { className: 'r' }, ...spans.flatMap((s) =>
    s.t.split(rule).filter(Boolean).map((t) => {
      const e = span({ ...s, t }, follow);
      if (rule.test(t)) e.classList.add('q');
      return e;
    })))]
  : [...spans.map((s) => span(s, follow)), '\n'];
export { line };

// Adds the overlay to the page and returns its element. `failures` are the messages of this type,
// `open` opens the editor at a link and returns the answer, `close` is for the button.
export default (failures, open, close) => {
  const notice = make('p', { role: 'status' });
  const follow = (link) => {
    open(link).then((answer) => answer.ok ? '' : answer.text(), () => 'watchrun does not answer')
      .then((text) => { notice.textContent = text; });
  };
  const styles = new CSSStyleSheet(), panel = make('aside', {
    role: 'alert', ariaLabel: 'watchrun: ' + failures.map((f) => f.title).join(', '),
  }, make('button', { ariaLabel: 'Close', title: 'Close (Escape)', onclick: close }, '×'), notice);
  for (const { task, title, lines } of failures) {
    const href = `${location.origin}/__watchrun/#task-${encodeURIComponent(task)}`;
    panel.append(make('h2', {}, title, make('a', { href, target: '_blank' }, 'All output')),
      make('pre', { tabIndex: 0 }, ...lines.flatMap((spans) => line(spans, follow))));
  }
  styles.replaceSync(css);
  const host = make('watchrun-overlay', {}), root = host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = [styles];
  root.append(panel);
  document.documentElement.append(host);
  // The first place in a source, if it is out of sight.
  const place = root.querySelector('pre a'), half = panel.clientHeight * 0.5;
  if (place && place.offsetTop > panel.clientHeight) panel.scrollTop = place.offsetTop - half;
  return host;
};
