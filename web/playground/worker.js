// Runs the command beside the page, so that the page stays alive. A message has the arguments and the files of a run.

import {load} from "./index.js";

const ready = load();

onmessage = async ({data: {id, args, files}}) => {
  try {
    postMessage({id, ...(await (await ready)(args, files))});
  } catch (e) {
    postMessage({id, status: 1, stdout: "", stderr: `mkl: ${e.message}\n`, files: {}});
  }
};
