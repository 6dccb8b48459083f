#!/usr/bin/env bash
# fuzz_target.sh TARGET CORPUS... : runs a libFuzzer target, in slices, until it has had FUZZ_SECONDS in all
# (default 30). How many it has had stands beside it, so that a run that was ended goes on where it was; with a
# new build of the target, and without FUZZ_SECONDS, it begins anew.
set -euo pipefail
target=$1
shift
had="$target.seconds"
wanted=${FUZZ_SECONDS:-30}
slice=30
if [[ -z ${FUZZ_SECONDS-} || $target -nt $had ]]; then echo 0 >"$had"; fi
seconds=$(<"$had")
while ((seconds < wanted)); do
  part=$((wanted - seconds < slice ? wanted - seconds : slice))
  "$target" -max_total_time=$part "$@"
  seconds=$((seconds + part))
  echo $seconds >"$had.new"
  mv "$had.new" "$had"
done
echo "fuzzed for $seconds s"
