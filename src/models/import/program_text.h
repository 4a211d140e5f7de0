/* program_text.h: what a program's text is made of around its operators, as formats. */
#ifndef MASU_MODELS_PROGRAM_TEXT_H
#define MASU_MODELS_PROGRAM_TEXT_H

#define IMPORT_TO_LIST  ".to_vec()"
#define IMPORT_TO_REALS ".double().to_vec()"
#define IMPORT_TO_F32   ".float()"
#define IMPORT_TO_F64   ".double()"
#define IMPORT_TO_I64   ".long()"
#define IMPORT_TO_BOOL  ".bool()"
#define IMPORT_ONE      "Tensor::full([1], %s)"
#define IMPORT_FMOD     "%s%s.fmod(%s%s)" /* self. or nothing, and a name; twice */
#define IMPORT_LOWEST   "f64::NEG_INFINITY"
#define IMPORT_WRAP     "onnx_wrap(%s, %u, %s)" /* expression, bits, with a sign */

/* If, Loop, Scan */
#define IMPORT_ITEM    ".item()"
#define IMPORT_NUMBER  "Tensor::full([], %s)"
#define IMPORT_YES     "Tensor::full([], 1.0) > 0.0"
#define IMPORT_ROUNDS  ": Vec<Tensor<%s>> = vec![];\n"
#define IMPORT_STACKED "Tensor::stack(%s, 0)"
#define IMPORT_SELECT  ".select(0, %s)"
#define IMPORT_LENGTH  ".dim(0)"

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
