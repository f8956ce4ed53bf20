package serving

import (
	"strings"

	"github.com/bmkl/bmkl/mkl/record"
)

type object = map[string]any

// openAPI describes the service and the columns of its models, in OpenAPI 3.1.
func (s *Server) openAPI() object {
	names, schemas := []string{}, []any{}
	for _, m := range s.models {
		names = append(names, m.name)
		schemas = append(schemas, recordSchema(m.name, m.now.Load().columns))
	}
	one := object{"anyOf": schemas}
	body := object{"anyOf": []any{one, object{
		"type": "object", "required": []string{"records"}, "additionalProperties": false,
		"properties": object{"records": object{"type": "array", "minItems": 1, "maxItems": s.opt.MaxRecords, "items": one}},
	}}}
	failed := func(what string) object { return content(what, object{"$ref": "#/components/schemas/Error"}) }
	return object{
		"openapi": "3.1.0",
		"info":    object{"title": "mkl serve", "version": "1", "description": "Predictions of named records."},
		"paths": object{
			"/predict": object{"post": object{
				"operationId": "predict", "summary": "Predict a record or a list of records.",
				"parameters": []any{
					object{"name": "model", "in": "query", "required": len(names) > 1, "schema": object{"type": "string", "enum": names}},
					object{"name": "interval", "in": "query", "description": "Probability of the intervals of numbers and times.",
						"schema": object{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": s.opt.Interval}},
					object{"name": "times", "in": "query", "description": "For models of times: the predictions say how probable it is that the event is later than each of these times.",
						"style": "form", "explode": false, "schema": object{"type": "array", "items": object{"type": "number", "exclusiveMinimum": 0}}},
					object{"name": "views", "in": "query", "description": "Whether to say what each view adds to the predictions.",
						"schema": object{"type": "boolean", "default": false}},
				},
				"requestBody": object{"required": true, "content": object{"application/json": object{"schema": body}}},
				"responses": object{
					"200": content("Predictions.", object{"$ref": "#/components/schemas/Answer"}),
					"400": failed("A mistake in the request; column names the column."), "404": failed("No such model."),
					"413": failed("The body is too large, or has too many records."), "503": failed("Too many predictions are running, or one took too long."),
				},
			}},
			"/models":  get("The models with their columns."),
			"/healthz": get("Whether the service answers, and which model files were refused."),
			"/metrics": object{"get": object{"summary": "Counts and durations in the text format of Prometheus.", "responses": object{"200": object{"description": "Metrics."}}}},
		},
		"components": object{"schemas": object{"Answer": answerSchema(), "Error": errorSchema()}},
	}
}

// get describes a page without parameters.
func get(summary string) object {
	return object{"get": object{"summary": summary, "responses": object{"200": content(summary, object{"type": "object"})}}}
}

// content describes an answer of JSON.
func content(what string, schema object) object {
	return object{"description": what, "content": object{"application/json": object{"schema": schema}}}
}

// recordSchema describes a record of a model.
func recordSchema(name string, columns []record.Column) object {
	properties, required := object{}, []string{}
	for _, c := range columns {
		p := object{"type": []string{"string", "null"}, "description": c.Type + " in " + strings.Join(c.Views, ", ")}
		switch {
		case c.Role == record.ExposureRole:
			p = object{"type": []string{"number", "string"}, "description": "exposure, a positive number to which the count is proportional"}
		case c.Role == record.OffsetRole:
			p = object{"type": []string{"number", "string"}, "description": "offset, a number that is added to the prediction"}
		case c.Type == "number":
			p["type"] = []string{"number", "string", "null"}
		case c.Type == "boolean":
			p["type"] = []string{"boolean", "number", "string", "null"}
		}
		if len(c.Categories) > 0 {
			p["examples"] = c.Categories
		}
		properties[c.Name] = p
		if c.Required {
			required = append(required, c.Name)
		}
	}
	return object{"title": name, "type": "object", "properties": properties, "required": required}
}

func answerSchema() object {
	text, number := object{"type": "string"}, object{"type": []string{"number", "string"}}
	list := func(of object) object { return object{"type": "array", "items": of} }
	probability := object{"type": "number", "minimum": 0, "maximum": 1}
	prediction := object{"type": "object", "properties": object{
		"numbers": list(object{"type": "object", "properties": object{"target": text, "mean": number, "sd": number, "lower": number, "upper": number}}),
		"times": list(object{"type": "object", "properties": object{"target": text, "median": number, "lower": number, "upper": number, "risk": number,
			"after": list(object{"type": "object", "properties": object{"time": object{"type": "number"}, "probability": probability}})}}),
		"class":   text,
		"median":  text,
		"classes": list(object{"type": "object", "properties": object{"class": text, "probability": probability, "up_to": probability}}),
		"labels":  list(object{"type": "object", "properties": object{"target": text, "present": object{"type": "boolean"}, "probability": probability}}),
		"views": list(object{"type": "object", "properties": object{"of": text, "scale": object{"type": "string", "enum": []record.Scale{record.OfMean, record.OfLog, record.OfFunction, record.OfLogOdds}}, "constant": number,
			"views": list(object{"type": "object", "properties": object{"view": text, "mean": number, "sd": number}})}}),
		"missing": list(text), "unknown": list(text), "outside": list(text),
	}}
	return object{"type": "object", "required": []string{"model"}, "properties": object{
		"model": text, "interval": probability, "prediction": prediction, "predictions": list(prediction),
	}}
}

func errorSchema() object {
	return object{"type": "object", "required": []string{"code", "error"}, "properties": object{
		"code":  object{"type": "string", "enum": Codes},
		"error": object{"type": "string"}, "record": object{"type": "integer", "description": "Counted from 1."}, "column": object{"type": "string"},
	}}
}
