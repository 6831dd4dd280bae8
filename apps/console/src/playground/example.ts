/** A first graph, which the engine without a GPU runs in seconds. */
export const EXAMPLE_GRAPH = `{
  "1": {
    "class_type": "MillraceReactionDiffusion",
    "inputs": {"width": 512, "height": 512, "steps": 1500, "seed": 20261121, "feed": 0.0545, "kill": 0.062, "palette": "lagoon"},
    "_meta": {"title": "Grow a coral pattern"}
  },
  "2": {
    "class_type": "SaveImage",
    "inputs": {"images": ["1", 0], "filename_prefix": "coral"},
    "_meta": {"title": "Save it"}
  }
}
`;
