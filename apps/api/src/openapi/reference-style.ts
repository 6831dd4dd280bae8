/** The look of the reference page: a column of text beside a list of operations, in light and dark. */
export const REFERENCE_STYLE = `
:root { color-scheme: light dark; --ink: #1a2027; --soft: #57616c; --line: #dfe4ea; --paper: #fff; --panel: #f5f7fa;
  --accent: #b4470f; --link: #a33d0a; --code: #10161d; --code-ink: #e3e9f0;
  --green: #0b6b43; --green-wash: #e2f4ea; --amber: #8a4b00; --amber-wash: #fdf0dc; --red: #a3122b; --red-wash: #fce8ea;
  --blue: #1b4f9c; --blue-wash: #e5eefb; --grey-wash: #eceff3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ef; --soft: #9ba6b2; --line: #2b333d; --paper: #0e1217;
  --panel: #161b22; --accent: #ff9a5c; --link: #ffa673; --code: #090c10; --code-ink: #d6dee7;
  --green: #5fd6a0; --green-wash: #11301f; --amber: #f2b866; --amber-wash: #33240c; --red: #ff929c; --red-wash: #3a1419;
  --blue: #8bb8ff; --blue-wash: #14253f; --grey-wash: #222931; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.6 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; text-underline-offset: 0.15em; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre { font: 0.86em/1.55 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, monospace; }
code { overflow-wrap: anywhere; }
p code, li code, td code { padding: 0.08em 0.3em; border-radius: 4px; background: var(--grey-wash); }
pre { margin: 0 0 1.25rem; padding: 0.9rem 1.1rem; overflow: auto; color: var(--code-ink); background: var(--code);
  border: 1px solid var(--line); border-radius: 8px; }
.page { display: grid; grid-template-columns: 18rem minmax(0, 1fr); max-width: 82rem; margin: 0 auto; }
nav { position: sticky; top: 0; align-self: start; height: 100vh; overflow: auto; padding: 2rem 1rem 3rem 1.5rem;
  border-right: 1px solid var(--line); font-size: 0.9rem; scrollbar-width: thin; }
nav .brand { font-weight: 700; font-size: 1.05rem; color: var(--ink); }
nav h2 { margin: 1.5rem 0 0.35rem; font-size: 0.72rem; letter-spacing: 0.07em; text-transform: uppercase; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: flex; gap: 0.6rem; align-items: baseline; padding: 0.22rem 0.4rem; margin: 0 -0.4rem; border-radius: 5px; color: var(--ink); }
nav li a:hover { background: var(--panel); text-decoration: none; }
nav .method { flex: none; width: 2.9rem; padding: 0; background: none; font-size: 0.68rem; text-align: left; }
nav .narrow { display: none; }
main { padding: 2.5rem 3rem 8rem; min-width: 0; }
.hero { margin: 0 0 2rem; padding: 0 0 1.5rem; border-bottom: 3px solid var(--accent); }
h1 { margin: 0 0 0.4rem; font-size: 2.4rem; line-height: 1.15; letter-spacing: -0.02em; }
h1 .chip { vertical-align: 0.5em; }
.lead { font-size: 1.2rem; color: var(--soft); }
.hero p:last-child { margin: 0; }
.button { display: inline-block; padding: 0.45rem 0.9rem; border: 1px solid var(--accent); border-radius: 6px; font-weight: 600; }
.button:hover { background: var(--accent); color: var(--paper); text-decoration: none; }
.chip { display: inline-block; padding: 0.15rem 0.55rem; border-radius: 1rem; font: 600 0.75rem/1.4 system-ui, sans-serif; letter-spacing: 0;
  color: var(--soft); background: var(--grey-wash); vertical-align: middle; }
main h2 { margin: 4rem 0 0.75rem; font-size: 1.6rem; letter-spacing: -0.01em; scroll-margin-top: 1rem; }
main h2::first-letter { text-transform: uppercase; }
main ul { padding-left: 1.2rem; } main li { margin: 0 0 0.45rem; }
article { margin: 0 0 1rem; padding: 2rem 0 1.5rem; border-top: 1px solid var(--line); scroll-margin-top: 0; }
article:target h3 { color: var(--accent); }
article h3 { margin: 0 0 0.6rem; font-size: 1.25rem; }
.anchor { color: inherit; } .anchor:hover::after { content: " #"; color: var(--soft); }
.address { display: flex; gap: 0.75rem; align-items: center; margin: 0 0 1rem; padding: 0.55rem 0.75rem; background: var(--panel);
  border: 1px solid var(--line); border-radius: 8px; }
.address code { padding: 0; background: none; font-size: 0.95em; }
.method { display: inline-block; flex: none; padding: 0.15rem 0.55rem; border-radius: 5px; font: 700 0.75rem/1.5 ui-monospace, monospace; text-align: center; }
.get, .head { color: var(--blue); background: var(--blue-wash); } .post, .patch { color: var(--green); background: var(--green-wash); }
.put { color: var(--amber); background: var(--amber-wash); } .delete { color: var(--red); background: var(--red-wash); }
.status { display: inline-block; padding: 0.05rem 0.45rem; border-radius: 5px; font: 700 0.8rem/1.6 ui-monospace, monospace; }
.s2 { color: var(--green); background: var(--green-wash); } .s3 { color: var(--blue); background: var(--blue-wash); }
.s4 { color: var(--amber); background: var(--amber-wash); } .s5 { color: var(--red); background: var(--red-wash); }
.scroll { overflow-x: auto; }
table { width: 100%; margin: 0 0 1rem; border-collapse: collapse; font-size: 0.95rem; }
th, td { padding: 0.55rem 1rem 0.55rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
tr:first-child > th, tr:first-child > td { border-top: 0; }
th { width: 24%; font-weight: 400; } th code { font-weight: 600; } td:nth-child(2):not(:last-child) { width: 28%; }
.refusals th { width: 5rem; }
th small { display: block; }
small { color: var(--soft); font-size: 0.8rem; }
p { margin: 0 0 0.9rem; } td p { margin: 0; } td p + p { margin-top: 0.45rem; }
h4 { margin: 1.5rem 0 0.25rem; font-size: 0.75rem; letter-spacing: 0.06em; text-transform: uppercase; color: var(--soft); }
summary { cursor: pointer; padding: 0.35rem 0; font-weight: 600; color: var(--soft); } summary .status { margin-left: 0.15rem; font-weight: 600; }
details[open] > summary { margin-bottom: 0.5rem; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 1rem; top: 1rem; padding: 0.5rem 1rem; background: var(--paper); z-index: 1; }
@media (max-width: 56rem) {
  .page { grid-template-columns: minmax(0, 1fr); }
  nav { position: static; height: auto; padding: 1.25rem 1.25rem 0.75rem; border-right: 0; border-bottom: 1px solid var(--line); }
  nav .wide { display: none; } nav .narrow { display: block; }
  main { padding: 1.75rem 1.25rem 5rem; } h1 { font-size: 1.9rem; } main h2 { margin-top: 2.5rem; }
  tr { display: grid; grid-template-columns: minmax(0, 1fr); padding: 0.6rem 0; border-top: 1px solid var(--line); }
  tr:first-child { border-top: 0; }
  th, td, th:first-child, td:nth-child(2):not(:last-child), .refusals th { width: auto; padding: 0.1rem 0; border: 0; }
}
@media print { nav, .skip { display: none; } .page { display: block; } }
`;
