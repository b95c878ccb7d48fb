"""How a page looks: light and dark, on narrow and wide screens, in a notebook as by itself."""

# Every rule is below one class, so that the rest of a notebook stays as it is.  Colours are told apart by
# brightness, too, for readers and printers without colours.
STYLE = """
.polymat-page {
  --paper: #ffffff; --ink: #1d232b; --pale: #5b6572; --line: #d5dae1; --box: #f4f6f9; --group: #e8eef7;
  --strong: #1f5fae; --measured: #b3470f; --part: #7fa3d1; --over: #9a2f2f;
  background: var(--paper); color: var(--ink); padding: 16px; box-sizing: border-box; max-width: 1500px;
  margin: 0 auto; font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
  overflow-wrap: anywhere; text-align: left;
}
@media (prefers-color-scheme: dark) {
  .polymat-page {
    --paper: #14181d; --ink: #e3e8ee; --pale: #9aa6b4; --line: #39424d; --box: #1c222a; --group: #222d3b;
    --strong: #7db2f2; --measured: #f0a066; --part: #4f75a6; --over: #d97a7a;
  }
  body:has(> .polymat-page) { background: #14181d; }
}
.polymat-page * { box-sizing: border-box; }
.polymat-page h2 { font-size: 24px; margin: 0 0 4px; }
.polymat-page h3 { font-size: 18px; margin: 0; }
.polymat-page h4 { font-size: 14px; margin: 12px 0 4px; color: var(--pale); font-weight: 600; }
.polymat-page p { margin: 4px 0; }
.polymat-page ul { margin: 6px 0; padding-left: 20px; }
.polymat-page a { color: var(--strong); }
.polymat-page .note, .polymat-page .level { color: var(--pale); font-size: 13px; }
.polymat-page .stages { font-family: ui-monospace, "DejaVu Sans Mono", monospace; color: var(--pale); }
.polymat-page .limit { margin-top: 8px; }
.polymat-page .card { border: 1px solid var(--line); border-radius: 8px; padding: 14px; margin: 14px 0; }
.polymat-page .halves { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 20px; }
.polymat-page .graph { margin: 10px 0; }
.polymat-page .graph.narrow { display: none; }
.polymat-page svg { display: block; width: 100%; height: auto; margin: 0 auto; }
.polymat-page svg.roofline { max-width: 480px; margin: 0; }
.polymat-page svg text { fill: var(--ink); font: 12px ui-monospace, "DejaVu Sans Mono", monospace; }
.polymat-page svg text.small { fill: var(--pale); font-size: 11px; }
.polymat-page svg text.title { fill: var(--strong); font-weight: 600; }
.polymat-page svg.roofline text { font-size: 10px; }
.polymat-page svg .group { fill: var(--group); stroke: var(--strong); stroke-width: 1.2; }
.polymat-page svg .stage { fill: var(--paper); stroke: var(--pale); }
.polymat-page svg .output { stroke: var(--ink); stroke-width: 2.4; }
.polymat-page svg .input { fill: var(--box); stroke: var(--pale); stroke-dasharray: 4 3; }
.polymat-page svg .arrow { fill: none; stroke: var(--pale); stroke-width: 1.3; }
.polymat-page svg .head { fill: var(--pale); }
.polymat-page svg .axis { fill: none; stroke: var(--line); }
.polymat-page svg .roof { fill: none; stroke: var(--line); stroke-width: 1.4; }
.polymat-page svg .binding { stroke: var(--strong); stroke-width: 2; }
.polymat-page svg .predicted { fill: var(--paper); stroke: var(--strong); stroke-width: 2.5; }
.polymat-page svg .measured { fill: var(--measured); stroke: var(--paper); }
.polymat-page .bar { display: grid; grid-template-columns: 11em minmax(40px, 1fr) 11em; gap: 8px; }
.polymat-page .bar { align-items: center; margin: 2px 0; font-size: 13px; }
.polymat-page .bar b { background: var(--box); border: 1px solid var(--line); height: 13px; display: block; }
.polymat-page .bar i { display: block; height: 100%; background: var(--part); }
.polymat-page .bar i.predicted { background: var(--strong); }
.polymat-page .bar i.measured { background: var(--measured); }
.polymat-page .bar i.over {
  background: repeating-linear-gradient(45deg, var(--over) 0 5px, var(--paper) 5px 8px);
}
.polymat-page table { border-collapse: collapse; width: 100%; font-size: 13px; color: inherit; }
.polymat-page th, .polymat-page td {
  text-align: left; vertical-align: top; padding: 3px 10px 3px 0; border-bottom: 1px solid var(--line);
  background: none; white-space: normal; overflow-wrap: break-word;
}
.polymat-page td:first-child { overflow-wrap: anywhere; }
.polymat-page pre {
  background: var(--box); color: var(--ink); border: 1px solid var(--line); border-radius: 6px; margin: 4px 0;
  padding: 8px; font: 12px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap;
}
.polymat-page summary { cursor: pointer; color: var(--strong); margin-top: 8px; }
@media (max-width: 760px) {
  .polymat-page { padding: 10px; }
  .polymat-page .halves { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .polymat-page .graph.wide { display: none; }
  .polymat-page .graph.narrow { display: block; }
  .polymat-page .bar { grid-template-columns: 8.4em minmax(30px, 1fr) 8.4em; gap: 6px; font-size: 12px; }
}
"""
