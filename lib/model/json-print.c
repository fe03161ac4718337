/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "json-print.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

static _Thread_local bool failed;
static bool lost;

static void *allocate(size_t size)
{
        void *memory = malloc(size);

        failed |= !memory;
        return memory;
}

/* Before main(), so that no program can forget it. */
__attribute__((constructor)) static void take_over(void)
{
        cJSON_InitHooks(&(cJSON_Hooks){ .malloc_fn = allocate, .free_fn = free });
}

bool json_failed(void)
{
        bool was = failed;

        failed = false;
        return was;
}

void json_add_schema(struct cJSON *json)
{
        if (cJSON_IsObject(json))
                cJSON_AddNumberToObject(json, "schema", JSON_SCHEMA);
}

char *json_print(struct cJSON *json, enum json_style style)
{
        char *text = style == JSON_LINE ? cJSON_PrintUnformatted(json) : cJSON_Print(json);

        cJSON_Delete(json);
        if (!json_failed())
                return text;
        free(text);
        lost = true;
        return NULL;
}

bool json_lost(void)
{
        return lost;
}
