/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "places.h"
#include "util/util.h"

struct place *places_at(struct places *places, uint32_t name)
{
        size_t before = places->capacity;

        if (util_grow(&places->list, &places->capacity, (size_t)name + 1, sizeof(*places->list)) < 0)
                return NULL;
        if (places->capacity > before)
                memset(places->list + before, 0, (places->capacity - before) * sizeof(*places->list));
        return &places->list[name];
}

bool places_is_app(const struct places *places, uint32_t name)
{
        return name < places->capacity && places->list[name].app;
}
