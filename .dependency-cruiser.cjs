"use strict";

/** Every folder that may use the package as its users do, or joins its parts. */
const EDGES = "^src/(plan|cli|server|cluster|agent|providers|telemetry)/";
const OURS = "^(src|workers|tools)/";

/** A rule of the house: files matching `from` import only what matches one of `allowed`. */
function only(name, comment, from, allowed, rest = {}) {
  return { name, comment, severity: "error", from: { path: from }, to: { pathNot: allowed, ...rest } };
}

/** A package that one place of the house keeps to itself. */
function keptBy(name, packages, owners) {
  return {
    name,
    comment: `${packages.join(", ")} may be imported by ${owners.join(" and ")} alone`,
    severity: "error",
    from: { path: "^(src|workers|tools|examples)/", pathNot: owners },
    to: { path: packages.map((each) => `(^|/)node_modules/${each}/`) },
  };
}

const NPM = "(^|/)node_modules/";
const NOT_CORE = { dependencyTypesNot: ["core"] };

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "no-circles",
      comment: "Imports run downward; two files that need each other are one file or three",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "resolvable",
      comment: "An import that leads nowhere escapes the other rules",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    only(
      "protocol-imports-nothing",
      "What both sides of a cell agree on stands alone",
      "^src/protocol/",
      ["^src/protocol/", `${NPM}@sinclair/typebox/`],
      NOT_CORE,
    ),
    {
      name: "protocol-takes-only-types-from-node",
      comment: "It names a port's type; of the platform it uses the tests that tell what kind an object is",
      severity: "error",
      from: { path: "^src/protocol/" },
      to: { path: "^(?!(node:)?util$)", dependencyTypes: ["core"], dependencyTypesNot: ["type-only"] },
    },
    only(
      "schema-knows-the-protocol",
      "A schema is compiled and a value checked without knowing who asks",
      "^src/schema/",
      ["^src/schema/", "^src/protocol/", NPM],
      NOT_CORE,
    ),
    only(
      "runtime-knows-schema-and-protocol",
      "The coordinator knows tiers as the cell port and sources as ToolInstance",
      "^src/runtime/",
      ["^src/runtime/", "^src/schema/", "^src/protocol/", "^src/nearest\\.ts$", NPM],
      NOT_CORE,
    ),
    only(
      "isolation-implements-runtime-ports",
      "A tier implements the cell port and may know its worker side",
      "^src/isolation/",
      ["^src/isolation/", "^src/runtime/", "^src/protocol/", "^workers/", NPM],
      NOT_CORE,
    ),
    only(
      "sources-implement-runtime-ports",
      "A source of tools knows the runtime's ports and the protocol; of the tools that ship, their specifications",
      "^src/sources/",
      ["^src/sources/", "^src/runtime/", "^src/protocol/", "^tools/specs/", NPM],
      NOT_CORE,
    ),
    only(
      "approvals-implement-a-runtime-port",
      "Who carries a request to a human knows the port and the protocol",
      "^src/approvals/",
      ["^src/approvals/", "^src/runtime/", "^src/protocol/", NPM],
      NOT_CORE,
    ),
    only(
      "checkpoints-implement-a-runtime-port",
      "Who saves what a call may write knows the port and the protocol",
      "^src/checkpoints/",
      ["^src/checkpoints/", "^src/runtime/", "^src/protocol/", NPM],
      NOT_CORE,
    ),
    only(
      "workers-are-small",
      "Every cell pays for what the worker side loads",
      "^workers/",
      ["^workers/", "^src/protocol/", `${NPM}(comlink|@sinclair/typebox)/`],
      NOT_CORE,
    ),
    only("tool-entry-is-light", "Every tool module loads toolcell/tool", "^src/tool\\.ts$", [
      "^src/protocol/",
      `${NPM}@sinclair/typebox/`,
    ]),
    only(
      "tools-use-the-tool-entry",
      "A tool that ships is written as a user's tool is",
      "^tools/",
      ["^tools/", "^src/tool\\.ts$", "^src/protocol/", NPM],
      NOT_CORE,
    ),
    {
      name: "tools-take-only-types-from-protocol",
      comment: "A tool gets its values from toolcell/tool",
      severity: "error",
      from: { path: "^tools/" },
      to: { path: "^src/protocol/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "index-is-for-users",
      comment: "The public surface is the top of the house; nothing below it imports it",
      severity: "error",
      from: { path: OURS, pathNot: EDGES },
      to: { path: "^src/index\\.ts$" },
    },
    {
      name: "edges-use-the-public-surface",
      comment: "What an edge needs, the index or the entry of an adapter exports",
      severity: "error",
      from: { path: EDGES },
      to: { path: "^(src/(schema|runtime|isolation|sources|approvals|checkpoints)|workers)/", pathNot: "/index\\.ts$" },
    },
    {
      name: "nothing-shipped-imports-the-workshop",
      comment: "Tests, measurements and examples are not shipped",
      severity: "error",
      from: { path: OURS },
      to: { path: "^(test|bench|examples)/" },
    },
    {
      name: "nothing-shipped-imports-a-dev-dependency",
      comment: "It would be missing where the package is installed",
      severity: "error",
      from: { path: OURS },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"], pathNot: `${NPM}@types/` },
    },
    keptBy("schema-engine-in-one-place", ["ajv", "ajv-formats"], ["^src/schema/"]),
    keptBy("linear-patterns-in-two-places", ["re2js"], ["^src/schema/", "^tools/pattern\\.ts$"]),
    keptBy("piscina-in-one-place", ["piscina"], ["^src/isolation/thread/worker-pool\\.ts$"]),
    keptBy("comlink-at-the-control-port", ["comlink"], ["^src/isolation/thread/", "^workers/"]),
    {
      name: "no-schema-builder-in-a-cell",
      comment: "TypeBox costs every cell time and memory; its types cost nothing",
      severity: "error",
      from: { path: "^(workers/|src/protocol/|src/tool\\.ts$)" },
      to: { path: `${NPM}@sinclair/typebox/`, dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    doNotFollow: { path: NPM },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
