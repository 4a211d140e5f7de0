/* outside.c: see outside.h. One table: who adds a name says what it belongs to, and every message about it says so. */
#include "language/syntax/outside.h"

#include <string.h>

static const char *const texts[] = {
    [OUTSIDE_NOTHING] = "",
    [OUTSIDE_THREADS] = "threads",
    [OUTSIDE_ASYNC] = "asynchronous functions",
    [OUTSIDE_NETWORK] = "network connections",
    [OUTSIDE_MODELS] = "files of models",
    [OUTSIDE_IMAGES] = "files of images",
    [OUTSIDE_TOKENIZERS] = "tokenizers",
    [OUTSIDE_CHATS] = "ready language models",
    [OUTSIDE_SURROUNDINGS] = "variables of the environment",
    [OUTSIDE_FORGETTING] = "values that nothing drops",
    [OUTSIDE_WIDE_INTEGERS] = "integers of more than 64 bits",
};

typedef struct outside {
    const char *scope; /* a * at its end: whatever follows */
    const char *name;  /* NULL: each */
    outside_kind kind;
} outside;

static const outside known[] = {
    {"thread", NULL, OUTSIDE_THREADS},
    {"Thread", NULL, OUTSIDE_THREADS},
    {"mpsc", NULL, OUTSIDE_THREADS},
    {"Mutex", NULL, OUTSIDE_THREADS},
    {"RwLock", NULL, OUTSIDE_THREADS},
    {"Atomic*", NULL, OUTSIDE_THREADS},
    {"rayon", NULL, OUTSIDE_THREADS},
    {"tokio", NULL, OUTSIDE_ASYNC},
    {"Http*", NULL, OUTSIDE_NETWORK},
    {"TcpStream", NULL, OUTSIDE_NETWORK},
    {"TcpListener", NULL, OUTSIDE_NETWORK},
    {"UdpSocket", NULL, OUTSIDE_NETWORK},
    {"Socket", NULL, OUTSIDE_NETWORK},
    {"reqwest", NULL, OUTSIDE_NETWORK},
    {"Image", NULL, OUTSIDE_IMAGES},
    {"Tokenizer*", NULL, OUTSIDE_TOKENIZERS},
    {"BPE*", NULL, OUTSIDE_TOKENIZERS},
    {"SentencePiece*", NULL, OUTSIDE_TOKENIZERS},
    {"Llm*", NULL, OUTSIDE_CHATS},
    {"LLM", NULL, OUTSIDE_CHATS},
    {"Map", NULL, OUTSIDE_MODELS},
    {"Gguf*", NULL, OUTSIDE_MODELS},
    {"GGUF*", NULL, OUTSIDE_MODELS},
    {"Safetensors", NULL, OUTSIDE_MODELS},
    {"SafeTensors", NULL, OUTSIDE_MODELS},
    {"safetensors", NULL, OUTSIDE_MODELS},
    {"VarBuilder", NULL, OUTSIDE_MODELS},
    {"VarMap", NULL, OUTSIDE_MODELS},
    {"Env", NULL, OUTSIDE_SURROUNDINGS},
    {"env", "var", OUTSIDE_SURROUNDINGS},
    {"env", "vars", OUTSIDE_SURROUNDINGS},
    {"mem", "forget", OUTSIDE_FORGETTING},
    {"ManuallyDrop", NULL, OUTSIDE_FORGETTING},
    {"i128", NULL, OUTSIDE_WIDE_INTEGERS},
    {"u128", NULL, OUTSIDE_WIDE_INTEGERS},
    {"Tensor", "load_all", OUTSIDE_MODELS},
    {"Tensor", "save_all", OUTSIDE_MODELS},
    {"Tensor", "from_file", OUTSIDE_MODELS},
    {"Tensor", "from_safetensors", OUTSIDE_MODELS},
    {"Tensor", "from_gguf", OUTSIDE_MODELS},
    {".", "save_safetensors", OUTSIDE_MODELS},
    {".", "load_weights", OUTSIDE_MODELS},
    {".", "save_weights", OUTSIDE_MODELS},
};

static bool covers(const char *pattern, const char *scope) {
    size_t length = strlen(pattern);
    return pattern[length - 1] == '*' ? strncmp(pattern, scope, length - 1) == 0 : strcmp(pattern, scope) == 0;
}

outside_kind outside_find(const char *scope, const char *name) {
    const char *last = strrchr(scope, ':');
    scope = last != NULL ? last + 1 : scope;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (covers(known[i].scope, scope) && (known[i].name == NULL || strcmp(known[i].name, name) == 0))
            return known[i].kind;
    return OUTSIDE_NOTHING;
}

const char *outside_text(outside_kind kind) {
    return texts[kind];
}

bool outside_is_logic_word(const char *word) {
    static const char *const words[] = {"fact", "rule", "query", "relation", "predicate"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}
