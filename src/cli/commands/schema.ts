/** `millrace schema`: the JSON Schema of definitions, for editors. */
import { definitionJsonSchema } from "../../definition/json-schema.ts";
import { EXIT } from "../exit-codes.ts";

/** Prints the schema and nothing else. */
export function schema(): number {
  process.stdout.write(`${JSON.stringify(definitionJsonSchema(), null, 2)}\n`);
  return EXIT.ok;
}
