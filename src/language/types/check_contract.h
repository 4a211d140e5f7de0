/* check_contract.h: what an impl block owes one of Rust's own traits. */
#ifndef MASU_LANGUAGE_TYPES_CHECK_CONTRACT_H
#define MASU_LANGUAGE_TYPES_CHECK_CONTRACT_H

#include "language/types/check_context.h"

/* Compares each impl block of the program for a trait that the program does not declare with that trait's contract
 * (library/contracts.def), and reports what is missing, too much, or other than declared. */
void check_contracts(checker *c);
/* Reports types and constants of the impl block that the trait does not declare. */
void check_extra_items(checker *c, const impl_item *impl, const trait_item *trait);

#endif
