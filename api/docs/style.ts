/** The styles of the reference page: a separate file, because the platform's pages may not contain inline styles. */
export const referenceStyle = `
:root {
  color-scheme: light dark;
  --line: light-dark(#d5dbe3, #36424e);
  --soft: light-dark(#f3f5f8, #1a2129);
  --faint: light-dark(#566370, #9aa7b4);
  --link: light-dark(#0b5cad, #7db8f5);
  --get: light-dark(#0b6b46, #5fcf9f);
  --post: light-dark(#0b5cad, #7db8f5);
  --put: light-dark(#8a5a00, #e5b25d);
  --delete: light-dark(#a8261d, #f2918a);
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body {
  margin: 0; display: grid; grid-template-columns: 20rem minmax(0, 1fr);
  font: 15px/1.55 system-ui, sans-serif; background: light-dark(#fff, #12171c); color: light-dark(#1a222b, #dfe6ed);
}
a { color: var(--link); }
code, pre { font-family: ui-monospace, 'Cascadia Mono', Consolas, monospace; font-size: .86rem; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .7rem .8rem; margin: .3rem 0 .8rem; overflow: auto; max-height: 26rem; border-radius: .4rem; white-space: pre; overflow-wrap: normal; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; border-right: 1px solid var(--line); }
nav a { display: block; text-decoration: none; padding: .12rem 0; }
nav .group { font-weight: 600; margin-top: .9rem; }
nav ul { list-style: none; margin: 0; padding: 0 0 0 .6rem; font-size: .9rem; }
main { padding: 1rem 2rem 6rem; max-width: 64rem; }
h1 { font-size: 1.7rem; margin: .4rem 0 1rem; } h2 { font-size: 1.25rem; margin: 2.4rem 0 .3rem; } h3 { font-size: 1rem; margin: 1rem 0 .2rem; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; }
summary { cursor: pointer; padding: .5rem .75rem; background: var(--soft); border-radius: .4rem; overflow-wrap: anywhere; }
details[open] > summary { border-radius: .4rem .4rem 0 0; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
details > div { padding: .25rem .9rem .9rem; }
details.schema { border: 0; margin: 0; } details.schema > summary { background: none; padding: .1rem 0; color: var(--faint); font-size: .9rem; }
.method { display: inline-block; min-width: 4.2rem; font-weight: 700; font-size: .8rem; letter-spacing: .03em; }
.get { color: var(--get); } .post { color: var(--post); } .put, .patch { color: var(--put); } .delete { color: var(--delete); }
.about { color: var(--faint); display: block; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); }
th { font-size: .8rem; color: var(--faint); font-weight: 600; }
td p { margin: 0 0 .3rem; } td:first-child { white-space: nowrap; } td code { overflow-wrap: break-word; }
@media (max-width: 52rem) {
  body { display: block; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  nav ul { display: none; }
  nav .groups { display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
  nav .group { margin: 0; font-weight: 400; padding: .35rem 0; }
  main { padding: .5rem 1rem 4rem; }
  thead { display: none; } tr { display: block; border-bottom: 1px solid var(--line); padding: .3rem 0; }
  td { display: block; border: 0; padding: .1rem 0; }
  html { scroll-padding-top: 7rem; }
}
`;
