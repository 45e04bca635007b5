/** Documents of the installation, of tenants and of projects in MongoDB. */
import {
  DOCUMENT_KINDS,
  type DocumentKey,
  type DocumentKind,
  type DocumentOf,
  type AgentOwner,
  type DocumentOwner,
  type DocumentStore,
  type OwnedDocument,
  type OwnerOf,
  type UserOwner,
} from "../ports/documents.ts";
import { type Connection, insertIfAbsent } from "./connection.ts";

/** The body is JSON text: names in it are chosen by users, and MongoDB reads dots and dollar signs in names. */
interface StoredDocument {
  readonly _id: string;
  readonly owner: DocumentOwner | AgentOwner | UserOwner;
  readonly version: number;
  readonly body: string;
}

export function documentStore(connection: Connection): DocumentStore {
  const documents = connection.collection<StoredDocument>("documents");
  const documentsOf = <K extends DocumentKind>(kind: K, found: readonly StoredDocument[]) =>
    found.map(({ owner, version, body }) => ({
      kind,
      owner: owner as OwnerOf<K>,
      version,
      body: JSON.parse(body) as OwnedDocument<K>["body"],
    }));
  return {
    async all<K extends DocumentKind>(...kinds: readonly K[]) {
      // `0` is the character behind `/`.
      const ranges = kinds.map((kind) => ({ _id: { $gte: `${kind}/`, $lt: `${kind}0` } }));
      const found = await documents.find({ $or: ranges }).toArray();
      return found.map((one) => documentsOf(one._id.split("/", 1)[0] as K, [one])[0]!) as readonly DocumentOf<K>[];
    },
    async find<K extends DocumentKind>(kind: K, owners: readonly OwnerOf<K>[]) {
      const found = await documents.find({ _id: { $in: owners.map((owner) => idOf({ kind, owner })) } }).toArray();
      return documentsOf(kind, found);
    },
    async save({ kind, owner, version, body }) {
      const _id = idOf({ kind, owner });
      const json = JSON.stringify(body);
      if (version === 1) return insertIfAbsent(documents, { _id, owner, version, body: json });
      const { matchedCount } = await documents.updateOne(
        { _id, version: version - 1 },
        { $set: { version, body: json } },
      );
      return matchedCount > 0;
    },
    async deleteOf(owner) {
      await documents.deleteMany({ _id: { $in: DOCUMENT_KINDS.map((kind) => idOf({ kind, owner })) } });
    },
  };
}

const idOf = ({ kind, owner }: DocumentKey): string => `${kind}/${owner}`;
