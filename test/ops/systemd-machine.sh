# A machine whose first process is systemd, as a container of Podman: its file system is that of this machine, and what is
# written there ends with it. Needs root, and a mount namespace of its own (`unshare --mount`).
# $1: an empty folder, $2: the project, $3: the name of the container, $4: Node. Ends with the container.
set -eu
folder=$1 project=$2 name=$3 node=$4
root=$folder/root
mkdir "$root" "$folder/layers"
mount -t tmpfs tmpfs "$folder/layers"
mkdir "$folder/layers/upper" "$folder/layers/work"
# What the processes of this machine write meanwhile must not show through.
for each in tmp run var/tmp var/log; do
  mkdir -p "$(dirname "$folder/layers/upper/$each")"
  mknod "$folder/layers/upper/$each" c 0 0
done
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/layers/upper,workdir=$folder/layers/work" "$root"
for each in tmp run var/tmp var/log; do mkdir "$root/$each"; done
chmod 1777 "$root/tmp" "$root/var/tmp"

units=$root/etc/systemd/system
printf '[Unit]\nDefaultDependencies=no\n' >"$units/test.target"
cp "$project"/ops/systemd/*.service "$units"
mkdir -p "$root/opt" "$root/etc/millrace"
ln -sfn "$project" "$root/opt/millrace"
[ -e "$root/usr/bin/node" ] || ln -s "$node" "$root/usr/bin/node"
cat >"$root/etc/millrace/node.env" <<END
MILLRACE_BOOTSTRAP_TOKEN=an-administrator-token-for-this-test-only
MILLRACE_REGISTRATION_TOKEN=a-registration-token-for-this-test-only
END
cat >"$root/etc/millrace/agent.yaml" <<END
gateway: 127.0.0.1:9090
registration-token: a-registration-token-for-this-test-only
END
# As the comments of the units say.
for user in millrace millrace-agent; do
  chroot "$root" useradd --system --home-dir "/var/lib/$user" --shell /usr/sbin/nologin "$user"
done
chroot "$root" chgrp millrace /etc/millrace/node.env
chroot "$root" chgrp millrace-agent /etc/millrace/agent.yaml
chmod 640 "$root"/etc/millrace/*
exec podman run --rm --name "$name" --network none --privileged --systemd=always --rootfs "$root" \
  /lib/systemd/systemd --unit=test.target
