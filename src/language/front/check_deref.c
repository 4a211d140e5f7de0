/* check_deref.c: calls of `deref` that a `*`, or what is wanted, asks for: types/check_leads.c says of what. */
#include "language/front/check_place.h"
#include "language/front/check_walk.h"
#include "language/types/check_context.h"

void check_follow_stars(checker *c, expr **slot, uint32_t written, uint32_t stars, const type *expected) {
    const type *wish = expected == NULL ? NULL : type_resolve(c->types, expected);
    if (stars < written && check_leads(c, (*slot)->type) && check_is_guard(c, type_resolve(c->types, (*slot)->type)))
        stars = written;
    for (; stars > 0 && check_leads(c, (*slot)->type); stars--) {
        if (wish != NULL && wish == type_resolve(c->types, (*slot)->type))
            return;
        *slot = check_led(c, *slot, false);
        check_expr(c, slot, NULL);
    }
}

bool check_lead_to(checker *c, expr **slot, const type *wish) {
    bool led = false;
    for (; check_leads_elsewhere(c, (*slot)->type, wish); led = true) {
        *slot = check_led(c, *slot, false);
        check_expr(c, slot, NULL);
    }
    return led;
}
