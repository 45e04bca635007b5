/**
 * Where the proposals of one editor of one file go: to the open one, or to a branch that is claimed in the store, so that
 * calls at several edges open one proposal.
 */
import { hash } from "node:crypto";
import { newId, type RevisionId } from "../../domain/ids.ts";
import type { Proposal, Provider } from "../../providers/provider.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { GitContext } from "./context.ts";
import { withGit } from "./git-problems.ts";
import type { OpenRepository } from "./repository.ts";

/** Characters of a revision's id in the name of its branch: its time, so that later branches come later, and some more. */
const ID_CHARS = 16;

/** The proposals of one editor for one file and target. */
export interface ProposalsOf {
  readonly opened: OpenRepository;
  readonly provider: Provider;
  readonly target: string;
  /** How the names of the editor's branches begin. */
  readonly prefix: string;
}

/** Where a proposal is, or will be. */
export interface ProposalPlace {
  readonly branch: string;
  /** False for a branch that the first push makes. */
  readonly exists: boolean;
  /** Null while the branch has no proposal. */
  readonly open: Proposal | null;
  /** Of a branch that is claimed. */
  readonly claim?: BranchClaim;
}

interface BranchClaim {
  /** The revision that the branch is named after. */
  readonly id: RevisionId;
  /** Whether this call has made the claim: the id is then of no other revision. */
  readonly isNew: boolean;
}

/** One prefix for each editor, file and target. */
export function prefixOf({ pipelineId, pipelineFilePath }: Pipeline, editor: string, target: string): string {
  const slug = editor
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replaceAll(/^-|-$/g, "");
  const digest = hash("sha256", JSON.stringify([pipelineId, pipelineFilePath, editor, target])).slice(0, 8);
  return `millrace/${slug === "" ? "editor" : slug}-${digest}-`;
}

/** The same for each try of one save, so that a repeat finds the branch. */
export function branchOf(prefix: string, revisionId: RevisionId): string {
  return `${prefix}${revisionId
    .slice(revisionId.indexOf("_") + 1)
    .slice(0, ID_CHARS)
    .toLowerCase()}`;
}

/**
 * The editor's open proposal, else a claimed branch. The branch is claimed before the proposals are looked up again, and the
 * claim is given up only once its proposal is open: a later call finds the one or the other.
 */
export async function placeFor(
  context: GitContext,
  pipeline: Pipeline,
  proposals: ProposalsOf,
): Promise<ProposalPlace> {
  const { provider, prefix, target } = proposals;
  const newest = (await branchesOf(proposals)).at(-1);
  const open = newest === undefined ? null : await openOne(proposals, newest);
  if (newest !== undefined && open !== null) return { branch: newest, exists: true, open };
  for (;;) {
    const claim = await claimBranch(context, pipeline, prefix);
    const branch = branchOf(prefix, claim.id);
    const names = await branchesOf(proposals);
    const exists = names.includes(branch);
    const own = claim.isNew ? undefined : await withGit(() => provider.find(branch, target));
    // The call that made the claim was cut off when its proposal was open, and that one has been closed since.
    if (own?.isOpen === false) {
      await giveUpClaim(context, pipeline, prefix, claim);
      continue;
    }
    if (own !== undefined || exists) return { branch, exists, open: own ?? null, claim };
    const other = names.at(-1);
    const opened = other === undefined || other === newest ? null : await openOne(proposals, other);
    if (other !== undefined && opened !== null) return { branch: other, exists: true, open: opened };
    return { branch, exists: false, open: null, claim };
  }
}

/** For a claim whose proposal is open. */
export async function giveUpClaim(
  { stores }: GitContext,
  pipeline: Pipeline,
  prefix: string,
  { id }: BranchClaim,
): Promise<void> {
  await stores.idempotency.remove(keyOf(pipeline, prefix), id);
}

async function claimBranch({ stores, clock }: GitContext, pipeline: Pipeline, prefix: string): Promise<BranchClaim> {
  const id: RevisionId = newId("prp");
  const key = keyOf(pipeline, prefix);
  const { createdId } = await stores.idempotency.claim({ key, bodyHash: key, createdId: id, at: clock.now() });
  return { id: createdId as RevisionId, isNew: createdId === id };
}

function keyOf({ pipelineId }: Pipeline, prefix: string): string {
  return hash("sha256", JSON.stringify(["proposal", pipelineId, prefix]));
}

function branchesOf({ opened: { engine, repository }, prefix }: ProposalsOf): Promise<readonly string[]> {
  return withGit(() => engine.branchesFrom(repository, prefix));
}

async function openOne({ provider, target }: ProposalsOf, branch: string): Promise<Proposal | null> {
  const found = await withGit(() => provider.find(branch, target));
  return found?.isOpen === true ? found : null;
}
