/** Fields that the tools which walk folders share. */
import { Type } from "@sinclair/typebox";
import { SKIPPED_FOLDERS } from "../defaults.js";

const globs = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { maxItems: 100, description }));

/** Which files below a folder a tool takes. */
export const walkFields = {
  include: globs(
    "Takes only files that one of these globs matches, by path relative to the folder: * and ? within one name, ** " +
      "over folders, {a,b} for alternatives, \\ before a character to take it as it is. Example: src/**/*.{ts,js}",
  ),
  exclude: globs("Leaves out files and folders that one of these globs matches, by the same path."),
  includeHidden: Type.Optional(
    Type.Boolean({ default: false, description: "Also take names that start with a dot, and what lies below them." }),
  ),
  skipFolders: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 100,
      default: [...SKIPPED_FOLDERS],
      description: "Names of folders that are left out, with all that lies below them. [] leaves out none.",
    }),
  ),
  useIgnoreFiles: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        "Leave out what .gitignore and .ignore files say, those between the resource's root and the folder included. " +
        "The folder itself is never left out.",
    }),
  ),
};

/** What could not be looked at. */
export const unreadable = Type.Array(Type.String(), {
  description:
    "Paths that could not be looked at, the first 100: no permission, gone meanwhile, or a name that is not UTF-8, which " +
    "has U+FFFD in place of its other bytes.",
});
