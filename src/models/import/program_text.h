/* program_text.h: what a program's text is made of around its operators, as formats. */
#ifndef MASU_MODELS_PROGRAM_TEXT_H
#define MASU_MODELS_PROGRAM_TEXT_H

#define IMPORT_TO_LIST ".to_vec()"
#define IMPORT_WRAP    "onnx_wrap(%s, %u, %s)" /* expression, bits, with a sign */

#define IMPORT_READ    "file.read::<%s>(\"%s\").unwrap()"
#define IMPORT_OPEN    "        let file = TensorFile::open(path).unwrap();\n"

#define IMPORT_MAIN                                                                                       \
    "fn main() {\n"                                                                                       \
    "    let args: Vec<String> = std::env::args().collect();\n"                                           \
    "    if args.len() != 3 { panic(\"two files are wanted: the inputs, and where the outputs go\"); }\n" \
    "    let file = TensorFile::open(&args[1]).unwrap();\n"
#define IMPORT_MAIN_NET                                                                                     \
    "    let weights = std::path::PathBuf::from(&args[0]).with_extension(\"safetensors\");\n    let net = " \
    "Net::open(&weights.to_string_lossy());\n"
#define IMPORT_MAIN_END "    outputs.save(&args[2]);\n}\n"

#endif
