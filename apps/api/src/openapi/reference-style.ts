/** The look of the reference page: one column of text beside a list of operations, in light and dark. */
export const REFERENCE_STYLE = `
:root { color-scheme: light dark; --ink: #1c2128; --soft: #59636e; --line: #d8dee4; --paper: #fff; --panel: #f6f8fa;
  --get: #0a6640; --post: #8a4b00; --delete: #a40e26; --head: #59636e; --link: #0a58ca; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b3; --line: #30363d; --paper: #0d1117;
  --panel: #161b22; --get: #57d39b; --post: #f0b45a; --delete: #ff8b94; --head: #9da7b3; --link: #79b8ff; } }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
code, pre { font: 0.875em/1.5 ui-monospace, monospace; }
code { overflow-wrap: anywhere; }
pre { margin: 0 0 1rem; padding: 0.75rem 1rem; overflow: auto; background: var(--panel); border-radius: 6px; }
.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 76rem; margin: 0 auto; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 2rem 1rem 2rem 1.5rem; }
nav h2 { margin: 1.25rem 0 0.25rem; font-size: 0.75rem; letter-spacing: 0.06em; text-transform: uppercase; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 0.15rem 0; color: var(--ink); }
main { padding: 2rem 1.5rem 6rem; min-width: 0; }
h1 { margin: 0; font-size: 1.9rem; }
main h2 { margin: 3rem 0 1rem; padding-bottom: 0.35rem; border-bottom: 1px solid var(--line); }
article { margin: 0 0 2.5rem; scroll-margin-top: 1rem; }
article h3 { margin: 0 0 0.35rem; }
.address { margin: 0 0 0.75rem; }
.method { display: inline-block; min-width: 3.6rem; font-weight: 700; }
.get { color: var(--get); } .post, .put, .patch { color: var(--post); } .delete { color: var(--delete); } .head { color: var(--head); }
table { width: 100%; margin: 0 0 1rem; border-collapse: collapse; }
th, td { padding: 0.45rem 0.75rem 0.45rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
th { width: 26%; font-weight: 400; } td:nth-child(2) { width: 30%; }
th small { display: block; }
small { color: var(--soft); }
p { margin: 0 0 0.75rem; } td p { margin: 0; } td p + p { margin-top: 0.5rem; }
h4 { margin: 1rem 0 0.35rem; font-size: 0.8rem; letter-spacing: 0.04em; text-transform: uppercase; color: var(--soft); }
.skip { position: absolute; left: -999px; } .skip:focus { left: 1rem; top: 1rem; }
@media (max-width: 56rem) { .page { grid-template-columns: minmax(0, 1fr); } nav { position: static; max-height: none; padding: 1.5rem; }
  th { width: 38%; } }
`;
