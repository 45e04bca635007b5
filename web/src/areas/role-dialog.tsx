/** Gives a team or a service account a role where it lives. */
import { FormDialog } from "../parts/form-dialog.tsx";
import { tell } from "../parts/toast.tsx";
import { type Area, putMember } from "./area.ts";
import { areaWords } from "./area-words.ts";
import { ROLES } from "./members.tsx";

const texts = areaWords.members;

export function RoleDialog({
  area,
  member,
  name,
  onClose,
}: {
  readonly area: Area;
  /** The id. */
  readonly member: string;
  readonly name: string;
  readonly onClose: () => void;
}) {
  return (
    <FormDialog
      title={texts.giveTitle(name)}
      about={texts.giveText}
      save={texts.give}
      fields={[{ name: "role", label: texts.role, kind: "select", value: "viewer", options: ROLES }]}
      onClose={onClose}
      onSave={async ({ role }) => {
        const [wanted] = ROLES.find(([one]) => one === role) ?? ROLES.at(-1)!;
        await putMember(area, member, wanted);
        tell(texts.added);
      }}
    />
  );
}
