/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"
#include "table.h"
#include "text.h"
#include "util.h"
#include "words.h"

#define HELP_COLUMN 25 /* column at which sentences begin; a longer name has a line of its own */

/* Formats the range of the value, "0.1 to 50 %"; false: it has none */
static bool limits_text(const struct option_row *row, char *text, size_t size)
{
        const char *unit = row->unit ? row->unit : "", *space = row->unit ? " " : "";

        if (!row->number && !(row->count && row->low > 0))
                return false;
        if (row->high > 0)
                snprintf(text, size, _("%.10g to %.10g%s%s"), row->low, row->high, space, unit);
        else
                snprintf(text, size, _("%.10g%s%s or more"), row->low, space, unit);
        return true;
}

static void print_limits(FILE *file, const struct option_row *row)
{
        /* One of @words is not translated, as users type it. */
        const char *usual = row->usual && !row->words ? _(row->usual) : row->usual;
        char limits[128];
        bool limited = limits_text(row, limits, sizeof(limits));

        if (limited && usual)
                fprintf(file, _(" (%s; default: %s)"), limits, usual);
        else if (limited)
                fprintf(file, " (%s)", limits);
        else if (usual)
                fprintf(file, _(" (default: %s)"), usual);
}

/* false: no memory */
static bool print_row(const struct option_row *row)
{
        _cleanup_free_ char *text = NULL;
        struct text_kept kept;
        FILE *stream;
        size_t column;

        if (!row->name) {
                printf("\n%s\n", _(row->help));
                return true;
        }
        stream = text_open(&kept);
        if (!stream)
                return false;
        fputs(_(row->help), stream);
        print_limits(stream, row);
        text = text_close(stream, &kept);
        if (!text)
                return false;
        column = row->letter ? (size_t)printf("  -%c,", row->letter) : (size_t)printf(" ");
        column += (size_t)printf(" --%s%s%s", row->name, row->value ? " " : "", row->value ? row->value : "");
        if (column + 2 > HELP_COLUMN)
                column = (size_t)printf("\n") - 1;
        printf("%*s", (int)(HELP_COLUMN - column), "");
        text_wrap(stdout, text, HELP_COLUMN, HELP_COLUMN, TEXT_COLUMNS);
        putchar('\n');
        return true;
}

static void print_usage(const char *usage)
{
        const char *before = _("Usage: ");
        int indent = (int)text_width(before);

        while (*usage) {
                int length = (int)strcspn(usage, "\n");

                printf("%s%.*s\n", before, length, usage);
                usage += length + (usage[length] == '\n');
                before = "";
                if (*usage)
                        printf("%*s", indent, "");
        }
}

static bool print_help(const struct option_table *table)
{
        static const struct option_row last[] = {
                { "help", .help = N_("show this") },
                { "version", .help = N_("show the version") },
        };
        bool good = true;
        char exits[512];

        print_usage(table->usage);
        putchar('\n');
        text_paragraphs(stdout, _(table->about), TEXT_COLUMNS);
        if (table->n_rows == 0 || table->rows[0].name)
                printf("\n%s\n", _("Options:"));
        for (size_t i = 0; i < table->n_rows; i++)
                if (!table->rows[i].hidden)
                        good &= print_row(&table->rows[i]);
        for (size_t i = 0; i < ARRAY_SIZE(last); i++)
                good &= print_row(&last[i]);
        if (table->after) {
                putchar('\n');
                text_paragraphs(stdout, _(table->after), TEXT_COLUMNS);
        }
        snprintf(exits, sizeof(exits), _("Exit: %s."), table->exits ? _(table->exits) :
                 _("0 done; 1 it failed; 2 wrong usage"));
        putchar('\n');
        text_paragraphs(stdout, exits, TEXT_COLUMNS);
        if (table->print_after)
                table->print_after(stdout);
        return good;
}

static int answered(const struct option_table *table, bool help, const struct log *log)
{
        if (help && !print_help(table))
                return options_finish(CODE_FAILED, log);
        if (!help)
                printf("%s %s\n", table->program, JOULECAST_VERSION);
        return log_flush_stdout(log) < 0 ? CODE_FAILED : CODE_OK;
}

/* For completion in shells: "--name", the name of its value, its allowed words, and help, separated by |. */
static int list_options(const struct option_table *table, const struct log *log)
{
        for (size_t i = 0; i < table->n_rows; i++) {
                const struct option_row *row = &table->rows[i];

                if (row->name && !row->hidden)
                        printf("--%s|%s|%s|%s\n", row->name, row->flag ? "" : row->value ? row->value : "VALUE",
                               row->words ? row->words : "", row->help ? _(row->help) : "");
        }
        printf("--help|||%s\n", _("show this"));
        return log_flush_stdout(log) < 0 ? CODE_FAILED : CODE_OK;
}

/* Logs a sentence about a wrong argument, with a hint to the help. */
static int __attribute__((format(printf, 3, 4))) mistake(const struct option_table *table, const struct log *log,
                                                         const char *format, ...)
{
        char sentence[512];
        va_list arguments;

        va_start(arguments, format);
        vsnprintf(sentence, sizeof(sentence), format, arguments);
        va_end(arguments);
        log_error(log, "%s; see %s --help", sentence, table->called);
        return -EINVAL;
}

static double highest(const struct option_row *row)
{
        return row->high > 0 ? row->high : row->count ? (double)UINT64_MAX : INFINITY;
}

/* "--interval: 0.01 s is below 0.1 s" */
static int out_of_range(const struct option_table *table, const struct option_row *row, const struct log *log,
                        double value)
{
        const char *unit = row->unit ? row->unit : "", *space = row->unit ? " " : "";

        if (value < row->low)
                return mistake(table, log, _("--%s: %.10g%s%s is below %.10g%s%s"), row->name, value, space, unit,
                               row->low, space, unit);
        return mistake(table, log, _("--%s: %.10g%s%s is above %.10g%s%s"), row->name, value, space, unit, highest(row),
                       space, unit);
}

/* "3", and with a unit "3%", "3 %" and "3 mWh". */
static int parse_number(const struct option_row *row, const char *text, double *ret)
{
        char copy[64];
        size_t length = strlen(text), unit = row->unit ? strlen(row->unit) : 0;

        if (length == 0 || length >= sizeof(copy))
                return -EINVAL;
        memcpy(copy, text, length + 1);
        if (unit > 0 && length > unit && strcmp(copy + length - unit, row->unit) == 0)
                copy[length - unit] = '\0';
        return util_parse_double(copy, ret);
}

static int take_text(const struct option_row *row, const char *text)
{
        if (row->words && !util_is_word(row->words, text))
                return -EINVAL;
        *row->text = text;
        return 0;
}

static int take_number(const struct option_row *row, const char *text, double *ret)
{
        if (parse_number(row, text, ret) < 0)
                return -EINVAL;
        if (*ret < row->low || *ret > highest(row))
                return -ERANGE;
        if (row->count)
                return util_parse_u64(text, row->count) < 0 ? -EINVAL : 0;
        *row->number = *ret;
        return 0;
}

/* Logs why a value was not accepted, by its error. */
static int wrong_value(const struct option_table *table, const struct option_row *row, const char *text, int err,
                       const struct log *log)
{
        char given[128];

        util_printable(text, given, sizeof(given));
        if (err == -ERANGE)
                return mistake(table, log, _("--%s: \"%s\" is out of range (%s)"), row->name, given, _(row->range));
        if (err == -E2BIG)
                return mistake(table, log, _("--%s: \"%s\" is one too many (%s)"), row->name, given, _(row->range));
        if (row->words)
                return mistake(table, log, _("--%s: \"%s\" is not one of: %s"), row->name, given, row->words);
        if (row->number)
                return mistake(table, log, _("--%s: \"%s\" is not a number"), row->name, given);
        if (row->count)
                return mistake(table, log, _("--%s: \"%s\" is not a whole number"), row->name, given);
        return mistake(table, log, _("--%s: \"%s\" is not %s"), row->name, given, _(row->wants));
}

static int take_value(const struct option_table *table, const struct option_row *row, const char *text,
                      const struct log *log)
{
        double number = 0;
        int err;

        if (!*text)
                return mistake(table, log, _("--%s needs a value that is not empty"), row->name);
        err = row->parse ? row->parse(text, row->data) : row->text ? take_text(row, text)
                         : take_number(row, text, &number);
        if (!err)
                return 0;
        if (err == -ENOMEM) {
                log_error(log, "--%s: there is not enough memory", row->name);
                return err;
        }
        if (err == -ERANGE && !row->parse)
                return out_of_range(table, row, log, number);
        return wrong_value(table, row, text, err, log);
}

/* Finds an option by its name, or by an unambiguous beginning of it. */
static const struct option_row *find_row(const struct option_table *table, const char *name, size_t length)
{
        const struct option_row *found = NULL;
        size_t n = 0;

        for (size_t i = 0; i < table->n_rows; i++) {
                const struct option_row *row = &table->rows[i];

                if (!row->name || strncmp(row->name, name, length) != 0)
                        continue;
                if (!row->name[length])
                        return row;
                found = row;
                n++;
        }
        return n == 1 ? found : NULL;
}

static const struct option_row *find_letter(const struct option_table *table, char letter)
{
        for (size_t i = 0; i < table->n_rows; i++)
                if (table->rows[i].letter && table->rows[i].letter == letter)
                        return &table->rows[i];
        return NULL;
}

/* Logs the first two of the options that contradict each other. @given: for each row, whether it was given. */
static int check_contradictions(const struct option_table *table, const bool *given, const struct log *log)
{
        for (size_t i = 0; i < table->n_rows; i++)
                for (size_t j = 0; given[i] && table->rows[i].excludes && j < table->n_rows; j++)
                        if (given[j] && util_is_word(table->rows[i].excludes, table->rows[j].name))
                                return mistake(table, log, _("--%s and --%s exclude each other"), table->rows[i].name,
                                               table->rows[j].name);
        return 0;
}

/*
 * "--name", "--name value", "--name=value" or "-n value" at argv[*at]; moves *at to its last argument, and marks the
 * option in @options.
 */
static int read_option(const struct option_table *table, int argc, char *const argv[], int *at, bool *options,
                       const struct log *log)
{
        bool is_long = strncmp(argv[*at], "--", 2) == 0;
        const char *name = argv[*at] + (is_long ? 2 : 1), *equals = is_long ? strchr(name, '=') : NULL;
        const struct option_row *row =
                is_long ? find_row(table, name, equals ? (size_t)(equals - name) : strlen(name)) :
                name[1] ? NULL :
                          find_letter(table, *name);
        int from = *at, err = 0;
        char given[128];

        util_printable(argv[*at], given, sizeof(given));
        if (!row)
                return mistake(table, log, _("unknown option %s"), given);
        if (row->flag && equals)
                return mistake(table, log, _("this option takes no value: %s"), given);
        if (!row->flag && !equals && *at + 1 >= argc)
                return mistake(table, log, _("%s needs a value"), given);
        if (row->flag)
                *row->flag = true;
        else
                err = take_value(table, row, equals ? equals + 1 : argv[++*at], log);
        if (row->place)
                *row->place = (struct option_place){ from, *at + 1 };
        options[row - table->rows] = true;
        return err;
}

/* Takes the device from the environment if the command line has none. */
static int read_environment(const struct option_table *table, const struct log *log)
{
        const char *device = getenv(OPTION_DEVICE_VARIABLE);
        char given[128];

        for (size_t i = 0; device && *device && i < table->n_rows; i++) {
                if (table->rows[i].parse != options_take_device || table->rows[i].hidden)
                        continue;
                if (options_take_device(device, table->rows[i].data) < 0) {
                        log_error(log, "the environment variable %s is \"%s\", which is not %s", OPTION_DEVICE_VARIABLE,
                                  util_printable(device, given, sizeof(given)), _(table->rows[i].wants));
                        return CODE_USAGE;
                }
        }
        return -1;
}

int options_read(const struct option_table *table, int argc, char *const argv[], const struct log *log)
{
        size_t n_words = 0;
        bool only_words = false;
        int code = read_environment(table, log);
        _cleanup_free_ bool *options = calloc(table->n_rows + 1, sizeof(*options));

        if (code >= 0)
                return code;
        if (!options) {
                log_error(log, "there is not enough memory");
                return CODE_FAILED;
        }
        for (int i = 1; i < argc; i++) {
                bool help = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
                char given[128];
                int err = 0;

                if (only_words || argv[i][0] != '-' || !argv[i][1]) {
                        if (n_words == table->max_words)
                                err = mistake(table, log, _("unexpected argument \"%s\""),
                                              util_printable(argv[i], given, sizeof(given)));
                        else
                                table->words[n_words++] = argv[i];
                } else if (strcmp(argv[i], "--") == 0) {
                        only_words = true;
                } else if (help || strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0) {
                        return answered(table, help, log);
                } else if (strcmp(argv[i], "--list-options") == 0) {
                        return list_options(table, log);
                } else {
                        err = read_option(table, argc, argv, &i, options, log);
                }
                if (err)
                        return err == -ENOMEM ? CODE_FAILED : CODE_USAGE;
        }
        return check_contradictions(table, options, log) < 0 ? CODE_USAGE : -1;
}

int options_finish(int code, const struct log *log)
{
        if (code == CODE_OK && (log_flush_stdout(log) < 0 || table_lost()))
                code = CODE_FAILED;
        if (code == CODE_FAILED && !log_told_error())
                log_error(log, "there is not enough memory");
        return code;
}

int options_take_device(const char *text, void *data)
{
        const char *name = paths_virtual(text);

        if (!name || !*name)
                return -EINVAL;
        *(const char **)data = text;
        return 0;
}
