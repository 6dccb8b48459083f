# shellcheck shell=bash disable=SC2154,SC2016  # variables are those of 'prove'; backquotes are Markdown's
# The reports of 'prove': prove.md to read, prove.json for programs.

digest() { sha256sum "$1/manifest.json" | cut -d' ' -f1; }
rows_of() { cat "$work/single/$1"/*.jsonl | wc -l; }

write_reports() {
  local verdict='the same bytes' format commit
  [[ $same == true ]] || verdict='NOT the same bytes'
  commit=$(git -C "$here" describe --always --dirty --exclude '*' 2>/dev/null || echo unknown)
  mkdir -p "$results"
  formats=()
  for format in "$work"/single/*/; do formats+=("$(basename "$format")"); done
  write_markdown >"$results/prove.md.new"
  write_json >"$results/prove.json.new"
  mv "$results/prove.md.new" "$results/prove.md"
  mv "$results/prove.json.new" "$results/prove.json"
}

write_markdown() {
  local row task what at complete half
  printf '# An array whose tasks are killed, against one process\n\n'
  printf 'After %d interruptions, the merged array and the undisturbed run are **%s** (`diff -r` of %d files).\n\n' \
    "${#interruptions[@]}" "$verdict" "$(find "$work/single" -type f | wc -l)"
  printf '`fuselage oracle %s`\n\n' "${oracle[*]}"
  printf '| | one process | array of %d tasks |\n|---|---|---|\n' "$tasks"
  for format in "${formats[@]}"; do
    printf '| rows, %s | %d | %d |\n' "$format" "$(rows_of "$format")" "$(cat "$out/data/$format"/*.jsonl | wc -l)"
  done
  printf '| shards | %d | %d |\n' "$(complete_shards "$work/single")" "$(complete_shards "$out/data")"
  printf '| sha256 of the manifest | `%s` | `%s` |\n' "$(digest "$work/single")" "$(digest "$out/data")"
  printf '| seconds | %s | %s |\n\n' "$single_seconds" "$array_seconds"
  printf '| task | interrupted by | s after submission | shards complete then | half-written files left behind | restarts |\n'
  printf '|---|---|---|---|---|---|\n| 0 | nothing | | | | %d |\n' "${restarts[0]}"
  for row in "${interruptions[@]}"; do
    IFS='|' read -r task what at complete half <<<"$row"
    printf '| %d | %s | %s | %d of %d | %d | %d |\n' "$task" "$what" "$at" "$complete" \
      "$(complete_shards "$out/parts/$task")" "$half" "${restarts[task]}"
  done
  printf '\n%s at %s, %s, %d cores; other programs ran beside it, and the seconds of the array hold the waits of Slurm.\n' \
    "$("$fuselage" --version)" "$commit" "$(slurmctld -V)" "$(nproc)"
}

write_json() {
  local row task what at complete half comma=''
  printf '{\n  "same_bytes": %s,\n  "command": "fuselage oracle %s",\n' "$same" "${oracle[*]}"
  printf '  "version": "%s",\n  "commit": "%s",\n  "slurm": "%s",\n' \
    "$("$fuselage" --version)" "$commit" "$(slurmctld -V)"
  printf '  "manifest_sha256": {"single": "%s", "array": "%s"},\n' "$(digest "$work/single")" "$(digest "$out/data")"
  printf '  "shards": %d,\n  "rows": {' "$(complete_shards "$work/single")"
  for format in "${formats[@]}"; do printf '%s"%s": %d' "$comma" "$format" "$(rows_of "$format")"; comma=', '; done
  printf '},\n  "seconds": {"single": %s, "array": %s},\n  "tasks": %d,\n' "$single_seconds" "$array_seconds" "$tasks"
  printf '  "undisturbed_tasks_restarts": %d,\n  "interruptions": [' "${restarts[0]}"
  comma=''
  for row in "${interruptions[@]}"; do
    IFS='|' read -r task what at complete half <<<"$row"
    printf '%s\n    {"task": %d, "by": "%s", "seconds_after_submission": %s, "complete_shards": %d, "partial_files": %d, ' \
      "$comma" "$task" "$what" "$at" "$complete" "$half"
    printf '"restarts": %d}' "${restarts[task]}"
    comma=,
  done
  printf '\n  ]\n}\n'
}
