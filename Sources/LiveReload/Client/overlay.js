// The overlay of the watchrun client: shows failed tasks. client.js imports it at the first failure.
const colors = (list) => // bright colors look like normal ones
  list.split(' ').map((c, i) => `.f${i},.f${i + 8}{color:#${c}}`).join('');
const light = '24292f c62828 1a7f37 8a6100 0550ae 8250df 0b7285 57606a';
const css = `:host{all:initial!important}
aside{position:fixed;z-index:2147483647;inset:auto 0 0;max-height:50vh;overflow:auto;
box-sizing:border-box;padding:10px 16px;background:#fff;color:#1f2328;
border-top:4px solid #cf222e;box-shadow:0 0 24px #0006;font:13px/1.5 ui-monospace,monospace}
button{all:unset;position:sticky;top:0;float:right;padding:0 10px;font-size:24px;cursor:pointer}
:focus-visible{outline:2px solid}
h2{font-size:14px;margin:6px 40px 8px 0}
pre{font:inherit;margin:0 0 12px;white-space:pre-wrap;overflow-wrap:anywhere}
a{color:inherit}
.b{font-weight:700}.d{opacity:.7}.i{font-style:italic}
a,.u{text-decoration:underline}.s{text-decoration:line-through}
[class*=g]{color:#fff}${colors(light).replace(/f(?=\d+[,{])/g, 'g').replace(/{/g, '{background-')}
.g7,.g15{background:#c8ccd1;color:#000}${colors(light)}
@media(prefers-color-scheme:dark){aside{background:#161b22;color:#e6edf3}${colors(
  '8b949e ff7b72 56d364 e3b341 79c0ff d2a8ff 56d4dd e6edf3')}}
.f0[class*=g]{color:#000}.f15[class*=g]{color:#fff}`;

const make = (tag, properties, ...nodes) => {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...nodes);
  return e;
};

// Adds the overlay to the page and returns its element. `failures` are the messages of this type,
// `open` opens the editor at a link, `close` is for the button.
export default (failures, open, close) => {
  const span = ({ t, c = '', l }) => {
    const e = make(l == null ? 'span' : 'a', { className: c }, t);
    for (const [, kind, color] of c.matchAll(/([fg])(#\w+)/g)) {
      e.style[kind === 'f' ? 'color' : 'background'] = color;
    }
    if (l != null) {
      e.href = '#';
      e.onclick = () => {
        open(l);
        return false;
      };
    }
    return e;
  };
  const styles = new CSSStyleSheet(), panel = make('aside', {
    role: 'alert', ariaLabel: 'watchrun: failed: ' + failures.map((f) => f.task).join(', '),
  }, make('button', { ariaLabel: 'Close', title: 'Close (Escape)', onclick: close }, '×'));
  for (const { title, lines } of failures) {
    panel.append(make('h2', {}, title),
      make('pre', { tabIndex: 0 }, ...lines.flatMap((line) => [...line.map(span), '\n'])));
  }
  styles.replaceSync(css);
  const host = make('watchrun-overlay', {}), root = host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = [styles];
  root.append(panel);
  document.documentElement.append(host);
  return host;
};
