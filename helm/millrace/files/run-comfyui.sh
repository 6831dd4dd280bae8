# Runs a ComfyUI, whose command is given, as the first process of a container. It ends
# - with SIGTERM: a program that is the first process itself ignores the signal, and would be killed at the end of the grace period;
# - when the worker has made the file COMFYUI_RESTART_FILE, because a run hung: the container is then started again.
rm -f "$COMFYUI_RESTART_FILE"
"$@" &
comfyui=$!
trap 'kill -TERM "$comfyui"' TERM INT
(
  while [ ! -e "$COMFYUI_RESTART_FILE" ]; do sleep 2; done
  kill -KILL "$comfyui"
) &
watch=$!
wait "$comfyui"
status=$?
while kill -0 "$comfyui" 2>&-; do
  wait "$comfyui"
  status=$?
done
kill "$watch" 2>&-
exit "$status"
