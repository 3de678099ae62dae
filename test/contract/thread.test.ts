import { describeTier } from "./cell-tier.js";
import { makeRuntime, registerModule } from "./tier-bed.js";

describeTier({ name: "thread", apart: true, makeRuntime, register: registerModule });
