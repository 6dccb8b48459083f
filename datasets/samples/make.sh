#!/bin/sh
# Makes the samples of this directory again, as DIRECTORY/FORMAT.jsonl: the first rows of a fixed task and of a
# drawn graph in each format of `fuselage oracle`.
#
#   datasets/samples/make.sh FUSELAGE DIRECTORY
set -eu
fuselage=$1
out=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$fuselage" oracle --tasks task1_chain --graphs 1 --ops 8-8 --policy optimal,eps0.3 --episodes 3 --seed 7 \
  --format sft,prompt-completion,dpo,kto,grpo,prm,raw --tasks-in-train --out "$work/data" > "$work/said"

for format in graphs sft prompt-completion dpo kto grpo prm raw; do
  for graph in 0 1; do
    cat "$work/data/$format/"*.jsonl | grep -m 3 -E "^\{\"(id|index)\": \"?$graph[.,]"
  done > "$out/$format.jsonl"
done
