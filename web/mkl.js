#!/usr/bin/env node
// The command mkl in Node, on the files of this machine.

import fs from "node:fs";
import path from "node:path";
import {compile, start} from "./index.js";

process.exitCode = await start(await compile(), process.argv.slice(2), {fs, path, process});
