// Runs the command mkl, compiled to WebAssembly, in a browser or in Node. Files are in memory.
//
//   import {load} from "bmkl";
//   const mkl = await load();
//   const {status, stdout, stderr, files} = await mkl(["fit", "d.csv", "-target", "y", "-o", "m.mkl"], {"d.csv": bytes});

import "./wasm_exec.js";
import {MemoryFiles, resolve} from "./memory.js";

/** The bytes of the compiled command, which lie compressed beside this file. */
async function read(url) {
  if (globalThis.process?.versions?.node && url.protocol === "file:") {
    const {readFile} = await import("node:fs/promises");
    return new Response(await readFile(url)).body;
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: status ${answer.status}`);
  return answer.body;
}

/** Compiles the command. It can then run any number of times. */
export async function compile(url = new URL("mkl.wasm.gz", import.meta.url)) {
  const body = (await read(url)).pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(body).arrayBuffer());
}

/** Runs a compiled command with the fs, path and process that it sees. Returns its exit status. */
export async function start(module, args, world) {
  const go = new globalThis.Go();
  let status = 0;
  go.argv = ["mkl", ...args];
  go.exit = (code) => {
    status = code;
  };
  const instance = await WebAssembly.instantiate(module, go.importObject);
  // The program reads these globals while run has not returned, and keeps them.
  const before = {fs: globalThis.fs, path: globalThis.path, process: globalThis.process};
  let done;
  try {
    Object.assign(globalThis, world);
    done = go.run(instance);
  } finally {
    Object.assign(globalThis, before);
  }
  await done;
  for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer); // of a program that has ended
  return status;
}

const none = () => -1;
const alone = {getuid: none, getgid: none, geteuid: none, getegid: none, getgroups: () => [], pid: 1, ppid: 1, umask: () => 0o22, cwd: () => "/", chdir() {}};

/**
 * Returns a function that runs the command. It takes the command's arguments and files (Uint8Array by name), and returns the
 * exit status, standard output and standard error as text, and all files that are there at the end.
 */
export async function load(url) {
  const module = await compile(url);
  return async (args, files = {}, stdin) => {
    const held = new MemoryFiles(files, stdin);
    const status = await start(module, args, {fs: held.fs, path: {resolve}, process: alone});
    const text = (fd) => new TextDecoder().decode(held.written(fd));
    return {status, stdout: text(1), stderr: text(2), files: held.files()};
  };
}
