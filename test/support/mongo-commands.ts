/** The commands that the stores of this process send to MongoDB, for those who watch them. */
import { type CommandStartedEvent, type Document, MongoClient } from "mongodb";

type Watcher = (event: CommandStartedEvent) => void;

const watchers = new Set<Watcher>();

let isWatching = false;

/**
 * Tells the watcher each command of the stores that this process opens from now on; clients that tests make by themselves
 * are not watched. Answers a function that ends the watch.
 */
export function watchCommands(watcher: Watcher): () => void {
  watchers.add(watcher);
  if (!isWatching) watchClients();
  isWatching = true;
  return () => void watchers.delete(watcher);
}

function watchClients(): void {
  // oxlint-disable-next-line typescript/unbound-method
  const { connect } = MongoClient.prototype;
  MongoClient.prototype.connect = function (this: MongoClient) {
    // The stores alone set it.
    if ((this.options as Document)["ignoreUndefined"] === true) {
      (this as { monitorCommands?: boolean }).monitorCommands = true;
      this.on("commandStarted", (event) => watchers.forEach((watcher) => watcher(event)));
    }
    return Reflect.apply(connect, this, []);
  };
}

/** What one command asks of its collection; a command may ask several times. */
export interface Asked {
  readonly filter: Document;
  readonly sort: Document | ReadonlyMap<string, unknown>;
  readonly hint?: Document;
  /** The server may stop when it has found some. */
  readonly isLimited: boolean;
}

/** What the command asks; nothing for commands that look for no documents. */
export function askedBy(commandName: string, command: Document): readonly Asked[] {
  switch (commandName) {
    case "find":
      return [askedOf(command, command["filter"])];
    case "findAndModify":
      return [{ ...askedOf(command, command["query"]), isLimited: true }];
    case "count":
      return [askedOf(command, command["query"])];
    case "distinct":
      return [askedByDistinct(command)];
    case "update":
      return (command["updates"] as Document[]).map((update) => askedOf(update, update["q"]));
    case "delete":
      return (command["deletes"] as Document[]).map(({ q }) => askedOf({}, q));
    case "aggregate":
      return [askedByPipeline(command["pipeline"] as Document[])];
    default:
      return [];
  }
}

function askedByDistinct(command: Document): Asked {
  const asked = askedOf(command, command["query"]);
  // Of all documents, an index is read from one value to the next.
  const isOfAll = Object.keys(asked.filter).length === 0;
  return isOfAll ? { ...asked, sort: { [command["key"] as string]: 1 }, isLimited: true } : asked;
}

function askedByPipeline(stages: readonly Document[]): Asked {
  const [first, ...rest] = stages;
  const next = first?.["$match"] === undefined ? first : rest[0];
  const sort = next?.["$sort"] as Document | undefined;
  const isLimited = stages.some((stage) => stage["$limit"] !== undefined);
  return { ...askedOf({}, first?.["$match"]), ...(sort !== undefined && { sort }), isLimited };
}

function askedOf({ sort, hint, limit }: Document, filter: unknown): Asked {
  return {
    filter: (filter ?? {}) as Document,
    sort: (sort ?? {}) as Document,
    ...(hint !== undefined && { hint: hint as Document }),
    isLimited: Number(limit ?? 0) !== 0,
  };
}
