/**
 * Where the graph of a run draws what: a column for each stage, inside it a column for each layer of `needs`, and in a
 * layer the blocks below each other. Linear in the number of jobs and needs. Pure.
 */
import type { PlannedJob } from "../run-view.ts";
import { type Block, blocksOf } from "./blocks.ts";

export const NODE = {
  width: 216,
  narrowest: 148,
  height: 38,
  cell: 16,
  cellGap: 4,
  padding: 11,
  leftOut: 22,
  widest: 640,
} as const;
const GAP = { row: 10, layer: 44, stage: 40 } as const;
/** Room above the blocks of a stage for its name. */
const STAGE_TOP = 40;
/** Jobs that are drawn with their names. Layers with more jobs are drawn as cells, the largest layer first. */
const MOST_NAMED = 120;
/** Cells that are drawn at all: the table shows every job. */
const MOST_CELLS = 1_600;

export interface PlacedBlock extends Block {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Jobs that are drawn as cells; none for a block that is one job. */
  readonly cells: readonly PlannedJob[];
  readonly leftOut: number;
}

export interface PlacedStage {
  readonly name: string;
  readonly x: number;
  readonly width: number;
}

export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly stages: readonly PlacedStage[];
  /** In the order of the plan. */
  readonly blocks: readonly PlacedBlock[];
  /** One path of an SVG image for each need. */
  readonly edges: readonly { readonly from: string; readonly to: string; readonly path: string }[];
}

/** `room`: pixels that the graph should take at most, as far as narrower jobs make that possible. */
export function layOut(jobs: readonly PlannedJob[], room = Infinity): GraphLayout {
  const layers = withGroups(layersOf(blocksOf(jobs)));
  const nodeWidth = nodeWidthIn(layers, room);
  const placed = new Map<string, PlacedBlock>();
  /** Where blocks are that became part of a group. */
  const places = new Map<string, string>();
  const stages: PlacedStage[] = [];
  let x = 0;
  let height = 0;
  let cellsLeft = MOST_CELLS;
  for (const [name, columns] of layers) {
    const from = x;
    for (const [at, blocks] of columns.entries()) {
      if (at > 0) x += GAP.layer;
      let y = STAGE_TOP;
      let width = 0;
      for (const block of at === 0 ? blocks : inOrderOfNeeds(blocks, placed, places)) {
        const size = sizeOf(block, cellsLeft, nodeWidth);
        cellsLeft -= size.cells.length;
        placed.set(block.key, { ...block, ...size, x, y });
        for (const job of block.jobs) places.set(job.key, block.key);
        y += size.height + GAP.row;
        width = Math.max(width, size.width);
      }
      height = Math.max(height, y - GAP.row);
      x += width;
    }
    stages.push({ name, x: from, width: x - from });
    x += GAP.stage;
  }
  const order = new Map(jobs.map(({ key }, at) => [key, at]));
  const blocks = [...placed.values()].toSorted((a, b) => order.get(a.jobs[0]!.key)! - order.get(b.jobs[0]!.key)!);
  return { width: Math.max(0, x - GAP.stage), height, stages, blocks, edges: edgesOf(blocks, placed, places) };
}

type Layers = Map<string, Block[][]>;

/** The layer of a block is one behind the last of those that it needs in its own stage. */
function layersOf(blocks: readonly Block[]): Layers {
  const known = new Map(blocks.map((block) => [block.key, block]));
  const depths = new Map<string, number>();
  const depthOf = (block: Block): number => {
    const found = depths.get(block.key);
    if (found !== undefined) return found;
    // A plan has no circles; the mark keeps a hostile one from running on.
    depths.set(block.key, 0);
    let depth = 0;
    for (const key of block.needs) {
      const needed = known.get(key);
      if (needed?.stage === block.stage) depth = Math.max(depth, depthOf(needed) + 1);
    }
    depths.set(block.key, depth);
    return depth;
  };
  const layers: Layers = new Map();
  for (const block of blocks) {
    const columns = layers.get(block.stage) ?? [];
    layers.set(block.stage, columns);
    const depth = depthOf(block);
    while (columns.length <= depth) columns.push([]);
    columns[depth]!.push(block);
  }
  return layers;
}

/** Draws the largest layers as groups of cells until few enough jobs are left with their names. */
function withGroups(layers: Layers): Layers {
  const sizes = [...layers].flatMap(([stage, columns]) =>
    columns.map((blocks, at) => ({ stage, at, jobs: blocks.filter(({ kind }) => kind === "job") })),
  );
  let named = sizes.reduce((sum, { jobs }) => sum + jobs.length, 0);
  for (const { stage, at, jobs } of sizes.toSorted((a, b) => b.jobs.length - a.jobs.length)) {
    if (named <= MOST_NAMED || jobs.length < 2) break;
    named -= jobs.length;
    const group: Block = {
      key: `group:${jobs[0]!.key}`,
      kind: "group",
      name: `${jobs.length} jobs`,
      stage,
      jobs: jobs.flatMap((block) => block.jobs),
      needs: [...new Set(jobs.flatMap(({ needs }) => needs))],
    };
    const columns = layers.get(stage)!;
    columns[at] = [group, ...columns[at]!.filter(({ kind }) => kind !== "job")];
  }
  return layers;
}

function nodeWidthIn(layers: Layers, room: number): number {
  const stages = [...layers.values()];
  const columns = stages.reduce((sum, { length }) => sum + length, 0);
  const gaps = (stages.length - 1) * GAP.stage + (columns - stages.length) * GAP.layer;
  return Math.max(NODE.narrowest, Math.min(NODE.width, Math.floor((room - gaps) / Math.max(1, columns))));
}

function sizeOf(
  block: Block,
  cellsLeft: number,
  nodeWidth: number,
): Pick<PlacedBlock, "width" | "height" | "cells" | "leftOut"> {
  if (block.kind === "job") return { width: nodeWidth, height: NODE.height, cells: [], leftOut: 0 };
  const cells = block.jobs.slice(0, Math.max(0, cellsLeft));
  const step = NODE.cell + NODE.cellGap;
  const wished = Math.ceil(Math.sqrt(cells.length) * 1.4) * step + 2 * NODE.padding;
  const width = Math.min(NODE.widest, Math.max(nodeWidth, wished));
  const perRow = Math.floor((width - 2 * NODE.padding + NODE.cellGap) / step);
  const rows = Math.ceil(cells.length / perRow);
  const leftOut = block.jobs.length - cells.length;
  const height = NODE.height + rows * step + 8 + (leftOut === 0 ? 0 : NODE.leftOut);
  return { width, height, cells, leftOut };
}

/** Blocks that need the same ones stand together, so that their lines cross less. */
function inOrderOfNeeds(
  blocks: readonly Block[],
  placed: ReadonlyMap<string, PlacedBlock>,
  places: ReadonlyMap<string, string>,
): readonly Block[] {
  const middle = (block: Block): number => {
    const ys = block.needs.flatMap((key) => placed.get(placeOf(key, placed, places))?.y ?? []);
    return ys.length === 0 ? 0 : ys.reduce((sum, y) => sum + y, 0) / ys.length;
  };
  return blocks
    .map((block, at) => ({ block, at, y: middle(block) }))
    .toSorted((a, b) => a.y - b.y || a.at - b.at)
    .map(({ block }) => block);
}

function placeOf(key: string, placed: ReadonlyMap<string, PlacedBlock>, places: ReadonlyMap<string, string>): string {
  return placed.has(key) ? key : (places.get(key) ?? key);
}

function edgesOf(
  blocks: readonly PlacedBlock[],
  placed: ReadonlyMap<string, PlacedBlock>,
  places: ReadonlyMap<string, string>,
): GraphLayout["edges"] {
  return blocks.flatMap((block) => {
    const sources = new Set(block.needs.map((key) => placeOf(key, placed, places)));
    return [...sources].flatMap((key) => {
      const source = placed.get(key);
      if (source === undefined || source === block) return [];
      return [{ from: key, to: block.key, path: pathBetween(source, block) }];
    });
  });
}

function pathBetween(from: PlacedBlock, to: PlacedBlock): string {
  const [x1, y1] = [from.x + from.width, from.y + NODE.height / 2];
  const [x2, y2] = [to.x, to.y + NODE.height / 2];
  const bend = Math.max(16, Math.min(60, (x2 - x1) / 2));
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
