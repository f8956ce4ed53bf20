// The page: a table comes in, the worker fits and reports, files go out.

const $ = (id) => document.getElementById(id);
const worker = new Worker(new URL("worker.js", import.meta.url), {type: "module"});
const waiting = new Map();
let runs = 0, table, model;

worker.onmessage = ({data}) => {
  waiting.get(data.id)(data);
  waiting.delete(data.id);
};
worker.onerror = (e) => say(`The program could not be started: ${e.message}`);

function run(args, files) {
  const id = ++runs;
  return new Promise((done) => {
    waiting.set(id, done);
    worker.postMessage({id, args, files});
  });
}

function say(text) {
  $("state").textContent = text;
}

/** The names in the first line of a text table; none of other files. */
export function header(bytes) {
  const line = new TextDecoder().decode(bytes.subarray(0, 1 << 16)).replace(/^\ufeff/, "").split(/\r?\n/, 1)[0];
  if (/[\0-\x08]/.test(line)) return [];
  const count = (c) => line.split(c).length;
  const separator = [",", ";", "\t"].reduce((a, b) => (count(b) > count(a) ? b : a));
  const cells = line.match(new RegExp(`("([^"]|"")*"|[^${separator}]*)(${separator}|$)`, "g")) ?? [];
  return cells.map((c) => c.replace(new RegExp(`${separator}$`), "").trim()).filter(Boolean).map((c) => (c.startsWith('"') ? c.slice(1, -1).replaceAll('""', '"') : c));
}

async function take(file) {
  table = {name: "data" + (file.name.match(/\.[A-Za-z0-9.]+$/)?.[0] ?? ""), bytes: new Uint8Array(await file.arrayBuffer()), shown: file.name};
  const names = header(table.bytes);
  $("names").replaceChildren(...names.map((n) => Object.assign(document.createElement("option"), {value: n})));
  $("target").value = names.at(-1) ?? "";
  $("fit").disabled = false;
  say(`${file.name}: ${names.length ? `${names.length} columns. ` : ""}Which column is to be predicted?`);
}

function offer(id, name, bytes, type) {
  URL.revokeObjectURL($(id).href);
  $(id).href = URL.createObjectURL(new Blob([bytes], {type}));
  $(id).download = name;
  $(id).hidden = false;
}

async function fit() {
  $("fit").disabled = true;
  $("results").hidden = true;
  say("Fitting …");
  const begin = performance.now();
  const fitted = await run(["fit", table.name, "-target", $("target").value, "-time", `${$("seconds").value}s`, "-o", "model.mkl"], {[table.name]: table.bytes});
  $("said").textContent = fitted.stderr + fitted.stdout;
  $("results").hidden = false;
  $("fit").disabled = false;
  if (fitted.status !== 0) return say("The fit ended with an error; the last line says why.");
  model = fitted.files["model.mkl"];
  offer("model", "model.mkl", model, "application/octet-stream");
  say("Writing the report …");
  const report = await run(["report", "model.mkl", "-data", table.name, "-q", "-o", "report.html"], {"model.mkl": model, [table.name]: table.bytes});
  if (report.status !== 0) return say(report.stderr);
  $("report").srcdoc = new TextDecoder().decode(report.files["report.html"]);
  offer("page", "report.html", report.files["report.html"], "text/html");
  $("later").hidden = false;
  say(`Done in ${((performance.now() - begin) / 1000).toFixed(1)} s.`);
}

async function predict(file) {
  const name = "new" + (file.name.match(/\.[A-Za-z0-9.]+$/)?.[0] ?? "");
  const out = await run(["predict", "model.mkl", name, "-o", "predictions.csv"], {"model.mkl": model, [name]: new Uint8Array(await file.arrayBuffer())});
  $("said").textContent += out.stderr;
  if (out.status !== 0) return say(out.stderr);
  offer("predictions", "predictions.csv", out.files["predictions.csv"], "text/csv");
  say("The predictions are ready.");
}

$("file").onchange = (e) => take(e.target.files[0]);
$("new").onchange = (e) => predict(e.target.files[0]);
$("form").onsubmit = (e) => {
  e.preventDefault();
  fit();
};
document.ondragover = (e) => e.preventDefault();
document.ondrop = (e) => {
  e.preventDefault();
  if (e.dataTransfer.files.length) take(e.dataTransfer.files[0]);
};
