/** The builtin `upload`: it puts a file into the workspace that the trigger has given to the run. */
import type { PullUploadResponse, UploadFile } from "../../../../proto/generated/gateway/v1/gateway.ts";
import { isFileName } from "../../../domain/artifacts.ts";
import { MillraceError } from "../../../domain/errors.ts";
import { callWithRetries } from "../../connection/gateway-call.ts";
import { ArtifactPlacement, folderOf } from "../artifact/artifact-placement.ts";
import type { BuiltinCall } from "../builtin-call.ts";

interface UploadArgs {
  readonly name: string;
  /** Folder in the workspace; empty for its root. */
  readonly folder: string;
  /** The name that the file gets; empty for the name of the upload. */
  readonly as: string;
}

/** The download after its first answer. */
interface Begun {
  readonly file: UploadFile;
  readonly placement: ArtifactPlacement;
}

/** Fetches the upload that the arguments name. Rejects with an error whose message is for users. */
export async function takeUpload({ step, args, workspace, gateway, say, output, signal }: BuiltinCall): Promise<void> {
  const target = readArgs(args);
  const { stepRunId, token } = step;
  let begun: Begun | undefined;
  try {
    // After a broken call, the next one continues at the same offset.
    await callWithRetries<never, PullUploadResponse, void>(
      gateway,
      (client, metadata) => {
        const offset = BigInt(begun === undefined ? 0 : writtenOf(begun));
        return Object.assign(client.pullUpload({ stepRunId, token, name: target.name, offset }, metadata), {
          write: () => {},
        });
      },
      async ({ next, onProgress }) => {
        const { message } = await next();
        if (message?.$case !== "found") throw unknownAnswer();
        onProgress();
        if (begun === undefined) {
          begun = begin(message.value, target, workspace);
          await begun.placement.write(new Uint8Array());
        }
        while (!begun.placement.isComplete) {
          const { message: part } = await next();
          if (part?.$case !== "data") throw unknownAnswer();
          await begun.placement.write(part.value);
          onProgress();
        }
      },
      signal,
    );
  } finally {
    await begun?.placement.dispose();
  }
  const { file } = begun!;
  const path = [target.folder, target.as || file.fileName].filter((name) => name !== "").join("/");
  output("path", path);
  say(`the upload ${JSON.stringify(target.name)} is here: ${JSON.stringify(path)}, ${file.sizeBytes} bytes`);
}

function begin(file: UploadFile, { folder, as }: UploadArgs, workspace: string): Begun {
  const { fileName, sha256 } = file;
  const placed = { path: as || fileName, sizeBytes: Number(file.sizeBytes), sha256, executable: false };
  return { file, placement: new ArtifactPlacement(workspace, folder, [placed]) };
}

function writtenOf({ file, placement }: Begun): number {
  return placement.isComplete ? Number(file.sizeBytes) : placement.position.offset;
}

function readArgs({ name, path = "", as = "", ...others }: Readonly<Record<string, unknown>>): UploadArgs {
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw wrong(`does not know "${unknown}"`);
  if (typeof name !== "string" || name === "") throw wrong("takes the name of an upload of the trigger as name");
  if (typeof path !== "string") throw wrong("takes a folder of the workspace as path");
  if (typeof as !== "string" || (as !== "" && !isFileName(as))) throw wrong("takes the name of one file as as");
  return { name, folder: folderOf(path), as };
}

function unknownAnswer(): Error {
  return new Error("the control plane sent an answer that this agent does not know");
}

function wrong(what: string): MillraceError {
  return new MillraceError("malformed_request", `upload ${what}`);
}
