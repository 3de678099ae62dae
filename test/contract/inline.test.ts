import { describeTier } from "./cell-tier.js";
import { makeRuntime, registerInline } from "./tier-bed.js";

describeTier({ name: "inline", apart: false, makeRuntime, register: registerInline });
