import { stripVTControlCharacters, styleText } from "node:util";
import { expect } from "chai";
import stringWidth from "string-width";
import { clipEnd, clipStart, padEnd, table } from "../../src/cli/table.js";

const RED = styleText("red", "red", { validateStream: false });
const LINES = [
  "plain text that is too long for most",
  `a ${RED} word, then ${RED}${RED} and on`,
  "漢字かな交じりの文がとても長く続く",
  `${RED}漢字${RED}かな交じり👨‍👩‍👧‍👦の文`,
  "e\u0301a\u0308 कि हिन्दी ﾊﾟﾋﾟ ✔▸█░",
  "",
];

describe("table", () => {
  for (const [name, clip] of [
    ["clipEnd()", clipEnd],
    ["clipStart()", clipStart],
  ] as const) {
    it(`${name} keeps to the width, whatever the letters, and leaves no colour open or cut`, () => {
      for (const line of LINES) {
        for (let width = 0; width <= 40; width++) {
          const cut = clip(line, width);
          expect(stringWidth(cut), `${line} at ${width}`).to.be.at.most(width);
          if (stringWidth(line) <= width) expect(cut).to.equal(line);
          expect(stripVTControlCharacters(cut), `${line} at ${width}`).not.to.match(/\p{Cc}|\[3/u);
          const opened = cut.split("\u001b[31m").length;
          expect(cut.split("\u001b[39m").length, `${line} at ${width}`).to.equal(opened);
        }
      }
    });
  }

  it("clipEnd() and clipStart() fill the width that there is: colours take no room", () => {
    expect(stripVTControlCharacters(clipEnd(`${RED}${RED}${RED}`, 8))).to.equal("redredr…");
    expect(stripVTControlCharacters(clipStart(`${RED}${RED}${RED}`, 8))).to.equal("…dredred");
    expect(clipEnd("漢字かな", 6)).to.equal("漢字…");
    expect(clipStart("漢字かな", 6)).to.equal("…かな");
  });

  it("padEnd() counts wide letters as what they take", () => {
    expect(padEnd("漢字", 6)).to.equal("漢字  ");
    expect(padEnd("漢字", 3)).to.equal("漢字");
  });

  it("table() writes out what would spoil its lines, and wraps what has no spaces", () => {
    const columns = [
      {
        title: "name",
        left: true,
        cell: (row: string) => row,
        paint: (text: string) => styleText("red", text, { validateStream: false }),
      },
      { title: "about", left: true, wraps: true, cell: () => "漢".repeat(30) },
    ];
    const lines = table(columns, ["a\u001b[2J\nb\u009b\tc"], 60).split("\n");
    expect(lines).to.have.length(4);
    expect(lines[2]).to.match(/^\p{Cc}\[31ma\\u001b\[2J b\\u009b c\p{Cc}\[39m {2}漢+$/u);
    for (const line of lines) expect(stringWidth(line)).to.be.at.most(60);
  });

  it("table() takes more rows than a call has arguments", () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => index);
    expect(table([{ title: "n", cell: String }], rows)).to.match(/199999$/);
  });
});
