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

/** A first graph for a picture of one's own, which is put in its place. */
export const PICTURE_GRAPH = `{
  "1": {
    "class_type": "LoadImage",
    "inputs": {"image": ""},
    "_meta": {"title": "Your picture"}
  },
  "2": {
    "class_type": "ImageInvert",
    "inputs": {"image": ["1", 0]}
  },
  "3": {
    "class_type": "SaveImage",
    "inputs": {"images": ["2", 0], "filename_prefix": "inverted"},
    "_meta": {"title": "Save it"}
  }
}
`;
