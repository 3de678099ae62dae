/** What the running Node can hold in a worker; measured facts by version. */

/** Facts of one Node version. */
export interface NodeFacts {
  /** The flag that turns permissions on. */
  readonly permissionFlag: "--permission" | "--experimental-permission";
  /** From 22 on a permissioned worker reads the host's current directory unasked. */
  readonly grantsCurrentDirectory: boolean;
  /** Whether the worker can give that up. */
  readonly canDropCurrentDirectory: boolean;
  /** Whether permission flags hold the network, which then needs `--allow-net`. */
  readonly holdsNetwork: boolean;
  /** Whether built-in modules can be refused inside a permissioned worker. */
  readonly guardsModules: boolean;
  /** Whether `node:sqlite` opens files past the permission flags and cannot be refused. */
  readonly databaseEscapes: boolean;
  /** A heap limit of the host that stands over the workers' own. */
  readonly hostHeapFlag: string | undefined;
}

/** Reads the facts off a version and a host's flags. */
export function nodeFacts(
  version: string = process.versions.node,
  hostFlags: readonly string[] = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? "").split(/\s+/)],
): NodeFacts {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return {
    permissionFlag: major >= 23 || (major === 22 && minor >= 13) ? "--permission" : "--experimental-permission",
    grantsCurrentDirectory: major >= 22,
    canDropCurrentDirectory: (major === 24 && minor >= 21) || major >= 26,
    holdsNetwork: major >= 25,
    guardsModules: (major === 22 && minor >= 15) || major >= 23,
    databaseEscapes: major === 22 && minor >= 13 && minor < 15,
    hostHeapFlag: hostFlags.find((flag) => /^--max[-_]old[-_]space[-_]size/.test(flag)),
  };
}
