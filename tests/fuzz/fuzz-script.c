/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>

#include "fuzz.h"
#include "harness/script.h"

/* Input scripts: a step has what its verb needs, within its limits. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct script script;
        struct script_fault fault = { 0 };

        if (script_parse((const char *)data, size, &script, &fault) < 0) {
                fuzz_assert(fault.line > 0 && fault.wants);
                return 0;
        }
        fuzz_assert(script.n > 0);
        for (size_t i = 0; i < script.n; i++) {
                const struct script_step *step = &script.steps[i];
                bool pointer = step->verb >= SCRIPT_CLICK && step->verb <= SCRIPT_SCROLL;
                bool times = step->verb == SCRIPT_SLEEP || step->verb == SCRIPT_WAIT_QUIET;

                fuzz_assert(step->verb <= SCRIPT_END && step->line > 0);
                fuzz_assert(times == (step->ns > 0));
                fuzz_assert((pointer || step->verb == SCRIPT_END || times) == !step->text);
                fuzz_assert((pointer && step->verb != SCRIPT_MOVE) == (step->button >= SCRIPT_BUTTON_FIRST));
                fuzz_assert(step->button <= SCRIPT_BUTTON_FORWARD && step->modifiers < 1u << SCRIPT_MODIFIERS);
                fuzz_assert((step->verb == SCRIPT_SCROLL) == (step->count > 0) && step->count <= SCRIPT_SCROLL_MAX);
                fuzz_assert(step->x >= 0 && step->x <= SCRIPT_PIXELS_MAX && step->y >= 0 &&
                            step->y <= SCRIPT_PIXELS_MAX);
        }
        script_clear(&script);
        return 0;
}
