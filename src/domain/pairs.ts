/**
 * A map whose names users choose, kept as pairs: names may contain dots and dollar signs, which a store would read as
 * paths.
 */
export type Pairs<V> = readonly (readonly [name: string, value: V])[];
