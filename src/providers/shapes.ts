/** Parts of the answers of several hosts. */
import { z } from "zod";

/** The address of a page, which people follow. */
export const webAddress = z.url({ protocol: /^https?$/ }).max(2_000);
