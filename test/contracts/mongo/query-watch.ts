/** Collects every kind of query that the stores send to MongoDB, with the definitions of the indexes. */
import type { CommandStartedEvent, Document } from "mongodb";
import { type Asked, askedBy, watchCommands } from "../../support/mongo-commands.ts";
import { type Index, indexOf, queryOf, type Service, serviceOf, textOf } from "../../support/mongo-queries.ts";

/** A kind of query, and one that was sent. */
export interface SeenQuery {
  readonly collection: string;
  readonly text: string;
  readonly service: Service;
  readonly sample: Asked;
}

export class QueryWatch {
  readonly #indexes = new Map<string, Map<string, Index>>();
  readonly #asked = new Map<string, { readonly collection: string; readonly command: string; readonly asked: Asked }>();
  readonly #end: () => void;

  /** Watches the stores that are opened from now on. */
  constructor() {
    this.#end = watchCommands((event) => this.#note(event));
  }

  end(): void {
    this.#end();
  }

  /** Each kind of query that was sent until now, by collection and text. */
  seen(): readonly SeenQuery[] {
    const seen = [...this.#asked.values()].map(({ collection, command, asked }): SeenQuery => {
      const query = queryOf(collection, command, asked);
      const indexes = [...(this.#indexes.get(collection)?.values() ?? [])];
      return { collection, text: textOf(query), service: serviceOf(query, indexes), sample: asked };
    });
    const nameOf = (query: SeenQuery): string => `${query.collection} ${query.text}`;
    return seen.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  }

  #note({ commandName, command }: CommandStartedEvent): void {
    const collection: unknown = command[commandName];
    if (typeof collection !== "string") return;
    if (commandName === "createIndexes") this.#noteIndexes(collection, command["indexes"] as NamedIndex[]);
    if (commandName === "dropIndexes") this.#indexes.get(collection)?.delete(command["index"] as string);
    for (const asked of askedBy(commandName, command)) {
      const kind = `${collection} ${textOf(queryOf(collection, commandName, asked))}`;
      if (!this.#asked.has(kind)) this.#asked.set(kind, { collection, command: commandName, asked });
    }
  }

  #noteIndexes(collection: string, indexes: readonly NamedIndex[]): void {
    const known = this.#indexes.get(collection) ?? new Map<string, Index>();
    for (const index of indexes) known.set(index.name, indexOf(index));
    this.#indexes.set(collection, known);
  }
}

interface NamedIndex extends Document {
  readonly name: string;
}
