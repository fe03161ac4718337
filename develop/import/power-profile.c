/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "power-profile.h"

#include <errno.h>
#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/ini-text.h"
#include "util/util.h"
#include "util/words.h"

#define DEPTH_MAX 16
#define TEXT_MAX 64

/* Position of the parser: in <device>, in it <item>, <array> or <modem>, and in these <value> and others. */
enum depth { OUTSIDE, IN_DEVICE, IN_ITEM, IN_VALUE, IN_ACTIVE };

struct parsing {
        XML_Parser parser;
        const char *name;
        const struct log *log;
        struct power_profile profile;
        size_t items_capacity, values_capacity;
        struct power_item *item; /* the one that is being read ... */
        unsigned item_depth;     /* ... and the depth of its element */
        unsigned depth, skipped; /* number of open elements; depth of the outermost one that is left out, or 0 */
        char text[TEXT_MAX + 1];
        size_t length;
        int err;
};

void power_profile_clear(struct power_profile *profile)
{
        for (size_t i = 0; i < profile->n; i++)
                free(profile->items[i].values);
        free(profile->items);
        *profile = (struct power_profile){ 0 };
}

/* Reports an error. The first one counts, and ends the parsing. */
static void fail(struct parsing *parsing, const char *what, const char *why)
{
        struct ini_place place = { parsing->name, (unsigned)XML_GetCurrentLineNumber(parsing->parser), parsing->log };
        char printable[POWER_NAME_MAX * 2];

        if (!parsing->err)
                parsing->err = ini_error(&place, "%s: %s", util_printable(what, printable, sizeof(printable)), _(why));
        XML_StopParser(parsing->parser, XML_FALSE);
}

static void fail_memory(struct parsing *parsing)
{
        parsing->err = -ENOMEM;
        XML_StopParser(parsing->parser, XML_FALSE);
}

/* NULL: there is none. */
static const char *attribute(const char **attributes, const char *name)
{
        for (; *attributes; attributes += 2)
                if (strcmp(attributes[0], name) == 0)
                        return attributes[1];
        return NULL;
}

static void begin_item(struct parsing *parsing, const char *element, const char *name)
{
        struct power_profile *profile = &parsing->profile;

        if (!name || strlen(name) >= POWER_NAME_MAX) {
                fail(parsing, element, N_("an item or array needs a name of at most 63 bytes"));
                return;
        }
        if (profile->n == POWER_ITEMS_MAX) {
                fail(parsing, name, N_("a power profile has at most 1024 items"));
                return;
        }
        if (util_grow(&profile->items, &parsing->items_capacity, profile->n + 1, sizeof(*profile->items)) < 0) {
                fail_memory(parsing);
                return;
        }
        parsing->item = &profile->items[profile->n++];
        *parsing->item = (struct power_item){ .array = strcmp(element, "array") == 0 };
        strcpy(parsing->item->name, name);
        parsing->item_depth = parsing->depth;
        parsing->values_capacity = 0;
}

/*
 * Newer files have <modem> in place of the items modem.controller.sleep, idle and rx, with <sleep>, <idle>, and for
 * each generation of networks <active> with <receive>. These become the items modem.sleep and so on. 5G is left out, as
 * LTE's tail is assumed. False: the element is none of these.
 */
static bool begin_modem(struct parsing *parsing, const char *element, const char **attributes)
{
        static const struct {
                enum depth depth;
                const char *element, *name; /* @name: NULL for elements with others in them */
        } known[] = {
                { IN_ITEM, "modem", NULL },
                { IN_VALUE, "sleep", "modem.sleep" },
                { IN_VALUE, "idle", "modem.idle" },
                { IN_VALUE, "active", NULL },
                { IN_ACTIVE, "receive", "modem.rx" },
        };
        const char *network = attribute(attributes, "rat");

        for (size_t i = 0; i < ARRAY_SIZE(known) && !(network && strcmp(network, "NR") == 0); i++) {
                if (known[i].depth != parsing->depth || strcmp(known[i].element, element) != 0)
                        continue;
                if (known[i].name)
                        begin_item(parsing, element, known[i].name);
                return true;
        }
        return false;
}

static void on_start(void *data, const char *element, const char **attributes)
{
        struct parsing *parsing = data;
        bool item = strcmp(element, "item") == 0, array = strcmp(element, "array") == 0;

        if (parsing->err)
                return;
        if (parsing->depth == DEPTH_MAX) {
                fail(parsing, element, N_("this is nested too deeply"));
                return;
        }
        parsing->depth++;
        parsing->length = 0;
        if (parsing->skipped)
                return;
        if (parsing->depth == IN_DEVICE && strcmp(element, "device") != 0)
                fail(parsing, element, N_("a power profile begins with <device>"));
        else if (parsing->depth == IN_ITEM && (item || array))
                begin_item(parsing, element, attribute(attributes, "name"));
        else if (parsing->item && !(parsing->depth == parsing->item_depth + 1 && parsing->item->array &&
                                    strcmp(element, "value") == 0))
                fail(parsing, element, N_("an item has a number alone, and an array has values alone"));
        else if (parsing->depth >= IN_ITEM && !parsing->item && !begin_modem(parsing, element, attributes))
                parsing->skipped = parsing->depth;
}

static void on_text(void *data, const char *text, int length)
{
        struct parsing *parsing = data;
        size_t n = (size_t)length;

        if (parsing->err || parsing->skipped || !parsing->item)
                return;
        for (size_t i = 0; i < n; i++) {
                char c = text[i];

                if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
                        continue;
                if (parsing->length == TEXT_MAX) {
                        fail(parsing, parsing->item->name, N_("this is too long for a number"));
                        return;
                }
                parsing->text[parsing->length++] = c ? c : '?';
        }
}

static void add_value(struct parsing *parsing)
{
        struct power_item *item = parsing->item;
        double value;

        parsing->text[parsing->length] = '\0';
        if (item->n == POWER_VALUES_MAX) {
                fail(parsing, item->name, N_("an array has at most 128 values"));
                return;
        }
        if (util_parse_double(parsing->text, &value) < 0 || !(value >= 0 && value <= POWER_VALUE_MAX)) {
                fail(parsing, item->name, N_("this is no number from 0 to 1e8"));
                return;
        }
        if (util_grow(&item->values, &parsing->values_capacity, item->n + 1, sizeof(*item->values)) < 0)
                fail_memory(parsing);
        else
                item->values[item->n++] = value;
}

static void on_end(void *data, const char *element)
{
        struct parsing *parsing = data;

        if (parsing->err)
                return;
        if (!parsing->skipped && parsing->item && (!parsing->item->array || parsing->depth > parsing->item_depth))
                add_value(parsing);
        if (parsing->depth == parsing->item_depth)
                parsing->item = NULL;
        if (parsing->skipped == parsing->depth)
                parsing->skipped = 0;
        parsing->depth--;
        parsing->length = 0;
}

/* Only a document type can define entities, so without one nothing expands and nothing outside is read. */
static void on_doctype(void *data, const char *element, const char *system, const char *public, int internal)
{
        fail(data, element, N_("a power profile must not have a document type"));
}

static void run(struct parsing *parsing, const char *text, size_t length)
{
        XML_SetUserData(parsing->parser, parsing);
        XML_SetElementHandler(parsing->parser, on_start, on_end);
        XML_SetCharacterDataHandler(parsing->parser, on_text);
        XML_SetStartDoctypeDeclHandler(parsing->parser, on_doctype);
        if (XML_Parse(parsing->parser, text, (int)length, XML_TRUE) != XML_STATUS_OK && !parsing->err)
                fail(parsing, XML_ErrorString(XML_GetErrorCode(parsing->parser)), N_("this is no XML"));
}

int power_profile_parse(const char *text, size_t length, const char *name, const struct log *log,
                        struct power_profile *ret)
{
        struct parsing parsing = { .parser = XML_ParserCreate(NULL), .name = name, .log = log };
        struct ini_place whole = { name, 0, log };

        if (!parsing.parser)
                return -ENOMEM;
        if (length > POWER_PROFILE_BYTES_MAX)
                parsing.err = ini_error(&whole, "a power profile has at most 1 MiB");
        else
                run(&parsing, text, length);
        XML_ParserFree(parsing.parser);
        if (parsing.err)
                power_profile_clear(&parsing.profile);
        else
                *ret = parsing.profile;
        return parsing.err;
}

const struct power_item *power_profile_find(const struct power_profile *profile, const char *name)
{
        for (size_t i = profile->n; i > 0; i--)
                if (strcmp(profile->items[i - 1].name, name) == 0)
                        return &profile->items[i - 1];
        return NULL;
}

double power_profile_value(const struct power_profile *profile, const char *name)
{
        const struct power_item *item = power_profile_find(profile, name);

        return item && !item->array ? item->values[0] : NAN;
}
