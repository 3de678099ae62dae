import { expect } from "chai";
import { holds } from "./questions.js";

describe("schema/formats", () => {
  it("check() checks formats, and refuses what would make a native one slow", () => {
    const cases: [string, string, string][] = [
      ["email", "a.b@example.org", "a.b@"],
      ["uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"],
      ["ipv4", "127.0.0.1", "127.0.0.256"],
      ["ipv6", "::1", "::g"],
      ["date", "2024-02-29", "2023-02-29"],
      ["date-time", "2024-01-01T00:00:00Z", "2024-01-01"],
      ["uri", "https://example.org/a?b#c", "not a uri"],
      ["uri-reference", "/a/b", "\\\\a"],
      ["uri-template", "/a/{b}", "/a/{b"],
      ["hostname", "example.org", "-a"],
      ["json-pointer", "/a~0b", "/a~2"],
      ["duration", "P1D", "P"],
      ["regex", "^a$", "("],
    ];
    for (const [format, good, bad] of cases) {
      expect(holds({ format }, good), `${format} ${good}`).to.equal(true);
      expect(holds({ format }, bad), `${format} ${bad}`).to.equal(false);
    }
    expect(holds({ format: "email" }, `${"a.".repeat(50_000)}@`)).to.equal(false);
    expect(holds({ format: "url" }, `https://example.org/${"a".repeat(4_000)}`)).to.equal(true);
    expect(holds({ format: "url" }, `https://example.org/${"a".repeat(5_000)}`)).to.equal(false);
    expect(holds({ format: "no-such-format" }, "x")).to.equal(true);
  });
});
