/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A struct becomes JSON by its table and comes back from it; hostile JSON is refused or unknown. */

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "util/fields.h"
#include "util/utc.h"
#include "util/util.h"

enum colour { RED, GREEN };

struct leaf {
        char *name;
        double sizes[3];
        size_t n_sizes;
};

struct tree {
        uint32_t small;
        uint64_t large, span_ns;
        int64_t exact;
        double real, number, age_ms;
        bool flag;
        int known;
        char text[8], id[8];
        enum colour colour;
        int64_t time_ns;
        struct {
                double value, low, high;
        } power;
        double parts[2];
        struct leaf *leaves;
        size_t n_leaves;
        char ids[2][8];
        size_t n_ids;
};

static const char *const colours[] = { [RED] = "red", [GREEN] = "green" }, *const parts[] = { "top", "root" };
static const struct field size_field[] = { { "", 0, sizeof(double), FIELD_NUMBER, FIELD_AMOUNT }, FIELDS_END };
static const struct field id_field[] = { { "", 0, 8, FIELD_TEXT, FIELD_MUST }, FIELDS_END };
static const struct field leaf_fields[] = {
        FIELD(leaf, name, STRING),
        FIELD(leaf, sizes, ARRAY, .of = size_field, .element = sizeof(double),
                 .count = offsetof(struct leaf, n_sizes)),
        FIELDS_END,
};
static const struct field tree_fields[] = {
        FIELD(tree, small, U32),
        FIELD(tree, large, U64),
        FIELD_AS(tree, "span_s", span_ns, FIELD_U64, .number = 1e9),
        FIELD(tree, exact, I64),
        FIELD(tree, real, REAL),
        FIELD_AS(tree, "in.number", number, FIELD_NUMBER),
        FIELD_AS(tree, "in.deep.age_s", age_ms, FIELD_NUMBER, FIELD_AMOUNT, .number = 1e3),
        FIELD(tree, flag, BOOL),
        FIELD(tree, known, KNOWN),
        FIELD(tree, text, TEXT, FIELD_EMPTY),
        FIELD(tree, id, TEXT, FIELD_MUST),
        FIELD(tree, colour, WORD, .words = colours, .n_words = 2),
        FIELD_AS(tree, "time", time_ns, FIELD_TIME),
        { "level", .kind = FIELD_FIXED, .number = 0.9 },
        FIELD(tree, power, VALUE),
        FIELD(tree, parts, REALS, .words = parts, .n_words = 2),
        FIELD(tree, leaves, LIST, FIELD_MUST, .of = leaf_fields, .element = sizeof(struct leaf),
                 .count = offsetof(struct tree, n_leaves), .max = 3),
        FIELD(tree, ids, ARRAY, .of = id_field, .element = 8, .count = offsetof(struct tree, n_ids)),
        FIELDS_END,
};

#define BEGIN "{\"small\":4294967295,\"large\":1234567890123456789,\"span_s\":1.5,\"exact\":\"-9223372036854775807\","
#define MIDDLE "\"real\":0.1,\"in\":{\"number\":0.1,\"deep\":{\"age_s\":2.5}},\"flag\":true,"
#define WORDS "\"known\":false,\"text\":\"a?b\",\"id\":\"oak\",\"colour\":\"green\",\"time\":\"2026-11-20T03:12:44Z\","
#define VALUES "\"level\":0.9,\"power\":{\"value\":2,\"low\":1,\"high\":null},\"parts\":{\"top\":3,\"root\":null},"
#define LISTS "\"leaves\":[{\"name\":\"first\",\"sizes\":[1,2]},{\"name\":\"\",\"sizes\":[]}],\"ids\":[\"x\",\"y\"]}"
static const char whole[] = BEGIN MIDDLE WORDS VALUES LISTS;

static void clear(struct tree *tree)
{
        for (size_t i = 0; i < tree->n_leaves; i++)
                free(tree->leaves[i].name);
        free(tree->leaves);
}

static int read_text(const char *text, struct tree *ret)
{
        struct cJSON *json = cJSON_Parse(text);
        int err;

        check(json != NULL);
        err = fields_from_json(tree_fields, json, ret);
        cJSON_Delete(json);
        return err;
}

static void check_json(const struct field *fields, const void *from, const char *want)
{
        struct cJSON *json = cJSON_CreateObject();
        char *text;

        fields_to_json(fields, from, json);
        text = cJSON_PrintUnformatted(json);
        check_text(text, want);
        cJSON_free(text);
        cJSON_Delete(json);
}

static void test_both_ways(void)
{
        struct leaf leaves[2] = { { (char *)(uintptr_t)"first", { 1, 2 }, 2 }, { (char *)(uintptr_t)"", { 0 }, 0 } };
        const struct tree tree = {
                .small = UINT32_MAX, .large = UINT64_C(1234567890123456789), .span_ns = 1500000000,
                .exact = -INT64_MAX, .real = 0.1, .number = 0.1, .age_ms = 2500, .flag = true, .text = "a\nb",
                .id = "oak", .colour = GREEN, .time_ns = INT64_C(1795144364999999999), .power = { 2, 1, NAN },
                .parts = { 3, NAN }, .leaves = leaves, .n_leaves = 2, .ids = { "x", "y" }, .n_ids = 2,
        };
        struct tree again = { 0 };

        check_json(tree_fields, &tree, whole);
        check_int(read_text(whole, &again), 0);
        check(again.small == tree.small && again.large == (uint64_t)(double)tree.large);
        check(again.exact == tree.exact && again.span_ns == tree.span_ns && again.real == 0.1 && again.age_ms == 2500);
        check(again.flag && again.known == 0 && again.colour == GREEN && isnan(again.power.high));
        check(again.time_ns == INT64_C(1795144364000000000) && again.parts[0] == 3 && isnan(again.parts[1]));
        check_text(again.text, "a?b");
        check(again.n_leaves == 2 && again.leaves[0].sizes[1] == 2 && again.n_ids == 2);
        check_text(again.leaves[0].name, "first");
        check_text(again.ids[1], "y");
        clear(&again);
}

static void test_flags_of_writers(void)
{
        static const struct field some_fields[] = {
                FIELD(leaf, name, STRING),
                FIELD_AS(leaf, "short", sizes[0], FIELD_NUMBER, FIELD_SHORT),
                FIELD_AS(leaf, "unknown", sizes[1], FIELD_NUMBER, FIELD_SHORT),
                FIELD(leaf, sizes, ARRAY, FIELD_SOME, .of = size_field, .element = sizeof(double),
                         .count = offsetof(struct leaf, n_sizes)),
                FIELDS_END,
        };
        struct leaf leaf = { (char *)(uintptr_t)"oak", { 1.0 / 3, NAN }, 0 };

        check_json(some_fields, &leaf, "{\"name\":\"oak\",\"short\":0.333333333,\"unknown\":null}");
        leaf.n_sizes = 1;
        leaf.sizes[0] = 2;
        check_json(some_fields, &leaf, "{\"name\":\"oak\",\"short\":2,\"unknown\":null,\"sizes\":[2]}");
}

static void test_unknown(void)
{
        static const char least[] = "{\"small\":0,\"large\":0,\"span_s\":0,\"exact\":\"0\",\"in\":{\"deep\":"
                                    "{\"age_s\":0}},\"flag\":false,\"id\":\"a\",\"colour\":\"red\",\"leaves\":[]}";
        struct tree tree = { 0 };

        check_int(read_text(least, &tree), 0);
        check(isnan(tree.real) && isnan(tree.number) && isnan(tree.power.value) && isnan(tree.parts[0]));
        check(tree.known == -1 && tree.time_ns == INT64_MIN && !*tree.text && tree.n_leaves == 0 && tree.n_ids == 0);
        clear(&tree);
}

/* @old of the whole text is replaced by @new. */
static void test_hostile(void)
{
        static const struct {
                const char *old, *new;
        } cases[] = {
                { "4294967295", "4294967296" }, { "4294967295", "-1" }, { "4294967295", "0.5" },
                { "4294967295", "null" }, { "1234567890123456789", "1e19" }, { "1.5,", "-1," }, { "1.5,", "1e10," },
                { "\"-9223372036854775807\"", "1" }, { "-9223372036854775807", "9223372036854775808" },
                { "0.1", "1e999" }, { "0.1", "\"1\"" },
                { "{\"number\":0.1", "{\"number\":[]" },
                { "2.5", "-2.5" }, { "2.5", "null" }, { "\"deep\"", "\"deeper\"" }, { "true", "1" },
                { "\"known\":false", "\"known\":0" }, { "a?b", "longer than its place" }, { "\"a?b\"", "{}" },
                { "\"oak\"", "\"\"" }, { "\"oak\"", "null" }, { "green", "blue" }, { "\"green\"", "1" },
                { "03:12:44Z", "03:12:44Z and more" }, { "2026", "9999" }, { "\"2026-11-20T03:12:44Z\"", "7" },
                { "\"power\":{", "\"power\":[{" "}],\"other\":{" }, { "\"low\":1", "\"low\":\"1\"" },
                { "{\"name\":\"\",\"sizes\":[]}", "7" }, { "\"sizes\":[]", "\"sizes\":[1,2,3,4]" },
                { "\"sizes\":[]", "\"sizes\":[-1]" }, { "\"sizes\":[]", "\"sizes\":{\"a\":1}" },
                { "\"leaves\":[", "\"leaves\":[{},{}," }, { "\"leaves\":[", "\"other\":[" },
                { "[\"x\",\"y\"]", "[\"x\",\"y\",\"z\"]" }, { "[\"x\",\"y\"]", "[[\"x\"]]" },
                { "[\"x\",\"y\"]", "\"x\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                const char *at = strstr(whole, cases[i].old);
                struct tree tree = { 0 };
                char text[1024];
                int err;

                check(at != NULL);
                snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - whole), whole, cases[i].new,
                         at + strlen(cases[i].old));
                err = read_text(text, &tree);
                if (err != -EBADMSG)
                        fprintf(stderr, "%s for %s\n", cases[i].new, cases[i].old);
                check_int(err, -EBADMSG);
                clear(&tree);
        }
}

static void test_no_object(void)
{
        static const char *const texts[] = { "[]", "7", "null", "\"\"" };
        struct tree tree = { 0 };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                check_int(read_text(texts[i], &tree), -EBADMSG);
        check_int(fields_from_json(tree_fields, NULL, &tree), -EBADMSG);
}

static void test_times(void)
{
        char text[40];
        int64_t time_ns = 0;

        utc_print_exact(INT64_C(1795144364999999999), text, sizeof(text));
        check_text(text, "2026-11-20T03:12:44.999999999Z");
        utc_print_exact(-1, text, sizeof(text));
        check_text(text, "1969-12-31T23:59:59.999999999Z");
        check_int(utc_parse("2026-11-20T03:12:44Z", &time_ns), 0);
        utc_print(time_ns, text, sizeof(text));
        check_text(text, "2026-11-20T03:12:44Z");
        check_int(utc_parse("1969-12-31T23:59:59Z", &time_ns), -EINVAL);
        check_int(utc_parse("", &time_ns), -EINVAL);
}

int main(void)
{
        test_both_ways();
        test_flags_of_writers();
        test_unknown();
        test_hostile();
        test_no_object();
        test_times();
        return check_result();
}
