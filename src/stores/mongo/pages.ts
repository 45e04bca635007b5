/** Pages of sorted lists in MongoDB, by number or behind a place. */
import type { Collection, Document, Filter } from "mongodb";
import { COUNTED_AT_MOST, isTooDeep, type ListPlace, type PlacedPageRequest } from "../ports/pages.ts";

/** A list whose order an index has. */
export interface SortedList<T extends Document> {
  readonly collection: Collection<T>;
  readonly filter: Filter<T>;
  /** The fields of the order; together they are unique. A field with `ASC` or `DESC` keeps that direction. */
  readonly order: readonly string[];
  readonly projection?: Document;
  /** The values of the fields of the order at a place. */
  readonly placeOf?: (after: ListPlace) => readonly (string | number)[];
}

/** The documents of a page, and how many the list has: at most {@link COUNTED_AT_MOST}, which stands for any more. */
export async function readPage<T extends Document, R extends Document = T>(
  { collection, filter, order, projection, placeOf = ({ at, id }) => [at, id] }: SortedList<T>,
  request: PlacedPageRequest,
): Promise<{ readonly documents: readonly R[]; readonly total: number }> {
  const { page, pageSize, after } = request;
  const fields = directed(order, request.descending);
  const read = (): Promise<R[]> => {
    const behind = after && (behindPlace(fields, placeOf(after)) as Filter<T>);
    const found = collection.find<R>(behind === undefined ? filter : ({ $and: [filter, behind] } as Filter<T>), {
      sort: Object.fromEntries(fields.map(([name, direction]) => [name, direction])),
      skip: after === undefined ? (page - 1) * pageSize : 0,
      limit: pageSize,
      ...(projection !== undefined && { projection }),
    });
    return found.toArray();
  };
  const [total, documents] = await Promise.all([
    collection.countDocuments(filter, { limit: COUNTED_AT_MOST }),
    isTooDeep(request) ? [] : read(),
  ]);
  return { documents, total };
}

type Directed = readonly [name: string, direction: 1 | -1];

function directed(order: readonly string[], descending: boolean): readonly Directed[] {
  return order.map((field): Directed => {
    const [name = field, direction] = field.split(" ");
    return [name, (direction === undefined ? descending : direction === "DESC") ? -1 : 1];
  });
}

/** What stands behind a place. The condition of the first field bounds the part of the index that is read. */
export function behindPlace([first, ...others]: readonly Directed[], place: readonly (string | number)[]): Document {
  const [name, direction] = first!;
  const [at, ...ids] = place;
  const [beyond, upTo] = direction === -1 ? ["$lt", "$lte"] : ["$gt", "$gte"];
  if (others.length === 0) return { [name]: { [beyond!]: at } };
  const rest = behindPlace(others, ids);
  return { [name]: { [upTo!]: at }, $or: [{ [name]: { [beyond!]: at } }, { [name]: at, ...rest }] };
}
