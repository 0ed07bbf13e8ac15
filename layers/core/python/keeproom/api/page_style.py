"""How our own pages look: the dashboard's tokens, light and dark, down to 320 pixels."""

STYLE = """
:root {
  color-scheme: light dark;
  --canvas: #f6f7f7; --surface: #ffffff; --sunken: #eff1f0; --hover: #f2f4f3; --line: #e3e7e5;
  --control: #c6cdc9; --control-strong: #7f8984; --text: #161d1a; --text-2: #46514c;
  --text-3: #626d68; --accent: #0b6b57; --on-accent: #ffffff; --accent-text: #09594a;
  --amber: #885200; --amber-soft: #fcf1dd;
  --shadow: 0 1px 2px rgb(22 29 26 / 5%), 0 8px 28px -12px rgb(22 29 26 / 12%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --canvas: #0f1413; --surface: #161c1a; --sunken: #0b0f0e; --hover: #1d2422; --line: #262e2c;
    --control: #36403d; --control-strong: #6d7873; --text: #e6ebe9; --text-2: #b4beb9;
    --text-3: #8f9a95; --accent: #5cc6a5; --on-accent: #06231b; --accent-text: #7bd6ba;
    --amber: #e3ab52; --amber-soft: #2d2413;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 12px 32px -12px rgb(0 0 0 / 60%);
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--canvas); color: var(--text); font-size: 14px; line-height: 1.5;
  font-family: "Inter Variable", Inter, system-ui, -apple-system, "Segoe UI", "Noto Sans",
    sans-serif;
  font-feature-settings: "cv05", "cv11", "ss03"; font-optical-sizing: auto;
  -webkit-font-smoothing: antialiased; -webkit-text-size-adjust: 100%;
}
h1, p, fieldset, legend { margin: 0; padding: 0; border: 0; }
b, label { font-weight: 500; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
main {
  min-height: 100vh; min-height: 100dvh; display: grid; align-content: center;
  justify-items: center; grid-template-columns: minmax(0, 440px); justify-content: center;
  gap: 16px; padding: 24px 16px;
}
.brand { display: flex; gap: 8px; align-items: center; color: var(--accent); max-width: 100%; }
.brand b { font-weight: 600; color: var(--text); }
.brand span { color: var(--text-3); font-size: 13px; overflow-wrap: anywhere; }
.brand svg { flex: none; }
.brand .door { fill: var(--canvas); }
.card {
  width: 100%; padding: 28px; display: grid; gap: 18px; background: var(--surface);
  border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shadow);
}
.said { text-align: center; gap: 8px; }
.said p { color: var(--text-2); }
header { display: grid; justify-items: center; text-align: center; gap: 6px; }
header p { font-size: 13px; line-height: 1.45; color: var(--text-2); }
h1 {
  font-size: 20px; line-height: 28px; letter-spacing: -0.014em; font-weight: 600;
  overflow-wrap: anywhere; text-wrap: balance;
}
header h1 { margin-top: 8px; }
.mark {
  width: 52px; height: 52px; border-radius: 13px; display: grid; place-items: center;
  background: var(--sunken); border: 1px solid var(--line); color: var(--text-2);
  font-size: 18px; font-weight: 600; letter-spacing: -0.02em;
}
header .proof {
  display: inline-flex; gap: 5px; align-items: center; font-size: 13.5px; font-weight: 500;
  color: var(--accent-text);
}
.proof svg { flex: none; }
header .warn { color: var(--amber); }
.where {
  display: grid; gap: 1px; background: var(--sunken); border-radius: 8px; padding: 10px 12px;
  font-size: 13px; color: var(--text-3);
}
.where p { color: var(--text); overflow-wrap: anywhere; }
.where b { font-weight: 600; }
.vault { display: grid; gap: 2px; font-size: 13px; }
.select { position: relative; }
.select svg {
  position: absolute; right: 10px; top: 50%; margin-top: -8px; color: var(--text-3);
  pointer-events: none;
}
select {
  appearance: none; width: 100%; height: 36px; padding: 0 36px 0 12px; font: inherit;
  font-size: 13px; color: var(--text); background: var(--surface);
  border: 1px solid var(--control-strong); border-radius: 8px;
}
fieldset { display: grid; gap: 12px; min-width: 0; }
legend { font-weight: 500; margin-bottom: 10px; }
.note {
  background: var(--amber-soft); border-radius: 8px; padding: 8px 12px; font-size: 13px;
}
.right { display: grid; grid-template-columns: 20px minmax(0, 1fr); gap: 12px; }
.right span { display: grid; font-size: 13px; line-height: 1.45; }
.right small { font-size: 12.5px; font-weight: 400; color: var(--text-3); }
.right input {
  appearance: none; margin: 0; width: 20px; height: 20px; border-radius: 6px;
  border: 1px solid var(--control-strong); background: var(--surface); display: grid;
  place-items: center;
}
.right input::before {
  content: ""; width: 10px; height: 6px; border: solid var(--on-accent);
  border-width: 0 0 2px 2px; transform: translateY(-1.5px) rotate(-45deg) scale(0);
}
.right input:checked { background: var(--accent); border-color: var(--accent); }
.right input:checked::before { transform: translateY(-1.5px) rotate(-45deg); }
.right input:disabled { background: var(--sunken); border-color: var(--control); }
.right:has(:disabled) b { color: var(--text-3); }
.actions { display: grid; grid-template-columns: 1fr 1fr; gap: 10px; margin-top: 6px; }
button, .button {
  height: 42px; font: inherit; font-weight: 600; border-radius: 8px; cursor: pointer;
  color: var(--text); background: var(--surface); border: 1px solid var(--control);
}
button:hover { background: var(--hover); }
button.primary, button.primary:hover {
  color: var(--on-accent); background: var(--accent); border-color: var(--accent);
}
.button {
  display: grid; place-items: center; padding: 0 16px; margin-top: 10px; text-decoration: none;
}
.button:hover { background: var(--hover); }
.small { font-size: 12px; line-height: 1.45; color: var(--text-3); text-align: center; }
@media (max-width: 48em) {
  main { align-content: start; padding-top: 20px; }
  .card { padding: 22px 20px; }
  select { height: 44px; }
  button, .button { height: 48px; }
}
@media (forced-colors: active) {
  .right input { appearance: auto; }
  .right input::before { content: none; }
}
"""
