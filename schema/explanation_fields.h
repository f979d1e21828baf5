// SPDX-License-Identifier: MIT
// Every field of a finding and of a remedy, a row each, in the order of the views' columns. A row
// yields the member of the struct, the column of the view, the key in JSON, the message to
// `warpmeter profile` and the view's documentation. A migration adds the table's column.
//
// FINDING(sort, name, description), REMEDY(sort, name, description): a field that is stored.
// FINDING_VIEW(sort, name, sql, description): computed by the view; f is the row of t_finding.
//
//   sort         what a field holds, and how (field.h)
//   name         of member, column and key
//   description  as `warpmeter list views` and docs/database.md have it

#ifndef FINDING
#define FINDING(...)
#endif
#ifndef FINDING_VIEW
#define FINDING_VIEW(...)
#endif
#ifndef REMEDY
#define REMEDY(...)
#endif

FINDING(Text, kind, "bank_conflict, strided_access, … (docs/explain.md has a section each)")
FINDING(TextOrNull, file,
        "source file; NULL where the finding is of the launch as a whole, or lines are not known")
FINDING(LineOrNull, line, "line in the file, from 1; NULL where the file is")
FINDING(Lines, also_lines,
        "other lines of the file that the finding counts, as a JSON array: [47,51]; NULL where "
        "there are none")
FINDING(TextOrNull, text, "the line itself; NULL when not known")
FINDING(TextOrNull, object, "the array or buffer; NULL without a name")
FINDING(TextOrNull, access, "shared load, global store, …, as in lines; NULL where it is none")
FINDING(Text, evidence, "what was seen and what it costs, in whole sentences")
FINDING(Count, requests, "warp instructions with an active lane")
FINDING(Count, transactions, "what they cost")
FINDING(Count, ideal, "the fewest that the same bytes could cost")
FINDING_VIEW(Count, excess, "f.transactions - f.ideal", "transactions beyond the ideal")
FINDING(Count, other_transactions, "those of all other accesses of the same array")
FINDING(CountOrNull, kernel_transactions,
        "those of all accesses of the kernel to the same memory, shared or global; NULL where they "
        "were not counted")
FINDING(Share, share, "what a launch without it would save, % of share_of")
FINDING(TextOrNull, share_of, "what the share is of: the launch's shared wavefronts, …")
FINDING(GradeName, grade, "{grades}, as in results")
FINDING(TextOrNull, grade_reason, "why it is not exact; else NULL")
FINDING(Lanes, lanes,
        "the costliest warp as a JSON object: width (bytes a lane) and lanes, each with lane, "
        "address and pass. Addresses are bytes from the array's beginning in shared memory, from "
        "the lowest sector in global memory. A pass is the wavefront that serves the lane, from 1; "
        "0 in global memory. NULL without one")

REMEDY(Text, name, "padding 1, swizzle, transpose, vector 4, …")
REMEDY(TextOrNull, change,
       "in the kernel's own words where they are known: tile[16][17]; else NULL")
REMEDY(TextOrNull, words, "what it is: a word of padding a row")
REMEDY(Amounts, also_amounts,
       "more of the same that gives the same counts, as a JSON array: [3,5,7] words of padding, or "
       "bits of a swizzle's shift; NULL where there is none")
REMEDY(Flag, is_advised, "1 when it is better than today; 0: tried, and no better")
REMEDY(Count, transactions, "of the finding's own accesses, with the change")
REMEDY(Count, other_transactions, "of all other accesses of the same array, with the change")
REMEDY(CountOrNull, shared_bytes,
       "shared memory of a block, with the change; NULL when it is not concerned")
REMEDY(CountOrNull, blocks,
       "blocks of a multiprocessor at a time, with the change; NULL when not known")
REMEDY(Lanes, lanes,
       "the finding's warp with the change, as in findings; NULL without one, and where it is not "
       "advised")

#undef FINDING
#undef FINDING_VIEW
#undef REMEDY
