// Tests the package of npm in Node: node web/test/npm.js FOLDER. tool/pack runs it.

import assert from "node:assert/strict";
import {pathToFileURL} from "node:url";

const {load} = await import(pathToFileURL(process.argv[2] + "/index.js"));
const mkl = await load();
const bytes = (text) => new TextEncoder().encode(text);
const rows = Array.from({length: 30}, (_, i) => `${(i * 11) % 30},${(i * 7) % 5},${2 * ((i * 11) % 30) + 3}`);
const table = bytes(["x,z,y", ...rows].join("\n") + "\n");

const fit = ["fit", "d.csv", "-target", "y", "-model", "mgp", "-kernels", "linear", "-o", "m.mkl"];
const [one, two] = await Promise.all([mkl(fit, {"d.csv": table}), mkl(fit, {"d.csv": table})]);
assert.equal(one.status, 0, one.stderr);
assert.deepEqual(Object.keys(one.files).sort(), ["d.csv", "m.mkl"]);
assert.deepEqual(one.files["m.mkl"], two.files["m.mkl"], "two runs at a time do not meet");

const predicted = await mkl(["predict", "m.mkl", "-", "-q"], one.files, bytes("x,z\n40,0\n"));
assert.equal(predicted.status, 0, predicted.stderr);
assert.ok(Math.abs(predicted.stdout.split("\n")[1].split(",")[0] - 83) < 0.5, predicted.stdout);

const wrong = await mkl(["fit", "d.csv", "-target", "w"], {"d.csv": table});
assert.equal(wrong.status, 2);
assert.match(wrong.stderr, /^mkl: .*"w"/);

const parquet = await mkl(["fit", "d.parquet", "-target", "w"], {"d.parquet": bytes("PAR1....")});
assert.equal(parquet.status, 2);
assert.match(parquet.stderr, /this build of the program does not read/);

assert.deepEqual([...table], [...one.files["d.csv"]], "a file that is read does not change");
console.log((await mkl(["version"])).stdout);
