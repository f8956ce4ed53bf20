// A file system in memory, as Go's programs for JavaScript expect it: the asynchronous functions of Node's fs.
// https://nodejs.org/api/fs.html has the numbers of flags and modes.

export const constants = {O_WRONLY: 1, O_RDWR: 2, O_CREAT: 0o100, O_EXCL: 0o200, O_TRUNC: 0o1000, O_APPEND: 0o2000, O_DIRECTORY: 0o200000};

const REGULAR = 0o100000, FOLDER = 0o040000, TERMINAL = 0o020000;

function failure(code, what) {
  return Object.assign(new Error(`${code}: ${what}`), {code});
}

/** An absolute path without . and .. parts. */
export function resolve(...parts) {
  const out = [];
  for (const part of parts.join("/").split("/")) {
    if (part === "..") out.pop();
    else if (part !== "" && part !== ".") out.push(part);
  }
  return "/" + out.join("/");
}

/** Bytes that grow at their end. */
class Bytes {
  constructor(bytes = new Uint8Array()) {
    this.room = bytes.slice();
    this.length = bytes.length;
  }

  resize(length) {
    if (length > this.room.length) {
      const room = new Uint8Array(Math.max(length, 2 * this.room.length));
      room.set(this.room.subarray(0, this.length));
      this.room = room;
    }
    if (length > this.length) this.room.fill(0, this.length, length);
    this.length = length;
  }

  put(bytes, at) {
    this.resize(Math.max(this.length, at + bytes.length));
    this.room.set(bytes, at);
  }

  get all() {
    return this.room.subarray(0, this.length);
  }
}

/** Files by their absolute paths, and what is open. Every function of fs calls back before it returns. */
export class MemoryFiles {
  constructor(files = {}, stdin = new Uint8Array()) {
    this.inodes = 0;
    this.nodes = new Map();
    for (const folder of ["/", "/tmp"]) this.nodes.set(folder, this.node(FOLDER | 0o777));
    for (const [name, bytes] of Object.entries(files)) this.nodes.set(resolve(name), this.node(REGULAR | 0o644, bytes));
    this.streams = [stdin, undefined, undefined].map((bytes) => this.node(TERMINAL | 0o600, bytes));
    this.handles = new Map(this.streams.map((node, fd) => [fd, {node, at: 0}]));
    this.next = 3;
    this.fs = {constants, writeSync: (fd, bytes) => this.write(fd, bytes, 0, bytes.length, null)};
    const calls = "open close read write fstat stat lstat mkdir readdir rename unlink rmdir link ftruncate truncate fsync chmod fchmod utimes";
    for (const name of calls.split(" ")) {
      this.fs[name] = (...args) => {
        const back = args.pop();
        let value;
        try {
          value = this[name](...args);
        } catch (e) {
          back(e);
          return;
        }
        back(null, value);
      };
    }
    for (const name of ["chown", "fchown", "lchown", "symlink", "readlink"]) {
      this.fs[name] = (...args) => args.pop()(failure("ENOSYS", name));
    }
  }

  node(mode, bytes) {
    return {ino: ++this.inodes, mode, bytes: new Bytes(bytes), changed: Date.now()};
  }

  /** The bytes of what was written to standard output (1) and standard error (2). */
  written(fd) {
    return this.streams[fd].bytes.all;
  }

  /** Names and bytes of the files in /. */
  files() {
    const out = {};
    for (const [path, node] of this.nodes) {
      if (node.mode & REGULAR && path.lastIndexOf("/") === 0) out[path.slice(1)] = node.bytes.all;
    }
    return out;
  }

  at(path) {
    const node = this.nodes.get(resolve(path));
    if (!node) throw failure("ENOENT", path);
    return node;
  }

  handle(fd) {
    const handle = this.handles.get(fd);
    if (!handle) throw failure("EBADF", String(fd));
    return handle;
  }

  open(path, flags, mode) {
    const whole = resolve(path);
    let node = this.nodes.get(whole);
    if (node && flags & constants.O_CREAT && flags & constants.O_EXCL) throw failure("EEXIST", path);
    if (node?.mode & FOLDER && flags & (constants.O_WRONLY | constants.O_RDWR)) throw failure("EISDIR", path);
    if (!node) {
      if (!(flags & constants.O_CREAT)) throw failure("ENOENT", path);
      this.at(resolve(whole, ".."));
      node = this.node(REGULAR | (mode & 0o777));
      this.nodes.set(whole, node);
    }
    if (flags & constants.O_TRUNC) node.bytes.resize(0);
    const fd = this.next++;
    this.handles.set(fd, {node, at: 0, append: Boolean(flags & constants.O_APPEND)});
    return fd;
  }

  close(fd) {
    this.handle(fd);
    this.handles.delete(fd);
  }

  read(fd, into, offset, length, position) {
    const handle = this.handle(fd);
    const from = position ?? handle.at;
    const bytes = handle.node.bytes.all.subarray(from, from + length);
    into.set(bytes, offset);
    if (position === null) handle.at += bytes.length;
    return bytes.length;
  }

  write(fd, from, offset, length, position) {
    const handle = this.handle(fd);
    const end = handle.node.bytes.length;
    const at = handle.append || handle.node.mode & TERMINAL && fd < 3 ? end : (position ?? handle.at);
    handle.node.bytes.put(from.subarray(offset, offset + length), at);
    handle.node.changed = Date.now();
    if (position === null) handle.at = at + length;
    return length;
  }

  stated(node) {
    const size = node.bytes.length;
    return {
      dev: 1, ino: node.ino, mode: node.mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size, blksize: 4096, blocks: Math.ceil(size / 512),
      atimeMs: node.changed, mtimeMs: node.changed, ctimeMs: node.changed, isDirectory: () => Boolean(node.mode & FOLDER),
    };
  }

  fstat(fd) {
    return this.stated(this.handle(fd).node);
  }

  stat(path) {
    return this.stated(this.at(path));
  }

  lstat(path) {
    return this.stat(path);
  }

  mkdir(path, mode) {
    if (this.nodes.has(resolve(path))) throw failure("EEXIST", path);
    this.at(resolve(path, ".."));
    this.nodes.set(resolve(path), this.node(FOLDER | (mode & 0o777)));
  }

  readdir(path) {
    this.at(path);
    const prefix = resolve(path) === "/" ? "/" : resolve(path) + "/";
    return [...this.nodes.keys()].filter((p) => p !== "/" && p.startsWith(prefix) && !p.slice(prefix.length).includes("/")).map((p) => p.slice(prefix.length));
  }

  rename(from, to) {
    const node = this.at(from);
    this.nodes.delete(resolve(from));
    this.nodes.set(resolve(to), node);
  }

  link(from, to) {
    if (this.nodes.has(resolve(to))) throw failure("EEXIST", to);
    this.nodes.set(resolve(to), this.at(from));
  }

  unlink(path) {
    this.at(path);
    this.nodes.delete(resolve(path));
  }

  rmdir(path) {
    if (this.readdir(path).length) throw failure("ENOTEMPTY", path);
    this.nodes.delete(resolve(path));
  }

  ftruncate(fd, length) {
    this.handle(fd).node.bytes.resize(length);
  }

  truncate(path, length) {
    this.at(path).bytes.resize(length);
  }

  fsync(fd) {
    this.handle(fd);
  }

  chmod(path) {
    this.at(path);
  }

  fchmod(fd) {
    this.handle(fd);
  }

  utimes(path) {
    this.at(path);
  }
}
