/** What the shapes of answers are made of. A shape gives a view its type, and the description of the API its schema. */
import { z } from "zod";
import type { ProjectId, TenantId } from "../domain/ids.ts";

/**
 * The shape of an object with exactly these fields. The description of the API refers to it by its name, which no other
 * shape may have.
 */
export function shape<const S extends z.core.$ZodLooseShape>(name: string, shown: () => S) {
  return fields(shown).register(z.globalRegistry, { id: name });
}

/**
 * {@link shape} for an object that is described where it stands. `shown` is called when something first reads or describes the
 * object: most nodes never describe their API, and a thousand fields take a megabyte.
 */
export function fields<const S extends z.core.$ZodLooseShape>(shown: () => S): Shown<z.ZodObject<S, z.core.$strict>> {
  return new z.ZodObject({
    type: "object",
    get shape() {
      const made = shown();
      Object.defineProperty(this, "shape", { value: made });
      return made;
    },
    catchall: NOTHING,
  }) as unknown as Shown<z.ZodObject<S, z.core.$strict>>;
}

/** What an answer shows. Only the compiler sees that it does not change: nothing parses an answer. */
type Shown<T extends z.ZodType> = z.ZodType<z.output<z.ZodReadonly<T>>, z.input<T>>;

const TEXT = z.string();
const NOTHING = z.never();

/** An id of one kind. */
export function id<I extends string>(): z.ZodType<I, I> {
  return TEXT as unknown as z.ZodType<I, I>;
}

export function listOf<T extends z.ZodType>(item: T): Shown<z.ZodArray<T>> {
  return z.array(item) as unknown as Shown<z.ZodArray<T>>;
}

/** Values by name. */
export function mapOf<T extends z.ZodType>(value: T): Shown<z.ZodRecord<z.ZodString, T>> {
  return z.record(TEXT, value) as unknown as Shown<z.ZodRecord<z.ZodString, T>>;
}

/** Some of these words, separated by commas. */
export function someOf<W extends string>(words: readonly W[]) {
  return z.string().transform((text, { issues }): ReadonlySet<W> => {
    const named = text.split(",") as W[];
    if (named.some((word) => !words.includes(word))) {
      issues.push({ code: "custom", input: text, message: `must be some of ${words.join(", ")}, separated by commas` });
    }
    return new Set(named);
  });
}

/** A word of a table whose keys are the words. */
export function keyOf<K extends string>(table: Readonly<Record<K, unknown>>) {
  return z.enum(Object.keys(table) as K[]);
}

/** A point in time, RFC 3339. */
export const time = z.string().meta({ format: "date-time" });
/** A whole number from 0 on. */
export const wholeNumber = z.number().int().min(0);

/** The value of a matrix axis. */
export const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** The fields of what starts and ends. */
export const timingFields = () => ({
  startTime: time.nullable(),
  endTime: time.nullable(),
  /** Milliseconds. */ duration: wholeNumber,
});

/** A page of a list with cursors. */
export function cursorPageOf<T extends z.ZodType>(item: T) {
  return fields(() => ({
    list: listOf(item),
    /** At most 10,000. */
    total: wholeNumber,
    /** False when there are more than `total`. */
    totalIsExact: z.boolean(),
    page: wholeNumber,
    pageSize: wholeNumber,
    /** `after` of the next page; null on the last one. */
    next: z.string().nullable(),
  }));
}

/** A list that is answered as a whole. */
export function wholeListOf<T extends z.ZodType>(item: T) {
  return fields(() => ({ list: listOf(item), total: wholeNumber }));
}

/** A list that is answered as a whole, unless its caller asks for pages. */
export function wholeOrPageOf<T extends z.ZodType>(item: T) {
  return fields(() => ({
    list: listOf(item),
    total: wholeNumber,
    /** Always true. */
    totalIsExact: z.boolean(),
    /** `after` of the next page; null on the last one. */
    next: z.string().nullable(),
  }));
}

/** A tenant or a project, in which a role counts. */
export const AreaShape = z.union([
  fields(() => ({ tenantId: id<TenantId>() })),
  fields(() => ({ projectId: id<ProjectId>() })),
]);
